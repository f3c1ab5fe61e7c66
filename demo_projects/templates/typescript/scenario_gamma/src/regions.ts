const HOME_REGION = "us-east";

export function activeRegions(variables: {
  SCHEDULER_REGIONS?: string;
}): Set<string> {
  const configured = variables.SCHEDULER_REGIONS;
  if (!configured) return new Set([HOME_REGION]);
  return new Set(configured.split(","));
}
