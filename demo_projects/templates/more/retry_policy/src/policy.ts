export interface PolicyOptions {
  retries?: number;
  label?: string;
}

export interface Policy {
  retries: number;
  label: string;
}

const DEFAULT_RETRIES = 3;

export function createPolicy(options: PolicyOptions = {}): Policy {
  return {
    retries: options.retries || DEFAULT_RETRIES,
    label: options.label ?? "task",
  };
}
