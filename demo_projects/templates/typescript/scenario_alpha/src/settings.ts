export type Environment = Record<string, string | undefined>;

export interface Settings {
  allowedOrigins: string[];
  cacheSeconds: number;
}

function readList(env: Environment, name: string): string[] {
  const raw = env[name] ?? "";
  return raw.split(",").filter((value) => value !== "");
}

export function loadSettings(env: Environment): Settings {
  return {
    allowedOrigins: readList(env, "APP_ALLOWED_ORIGINS"),
    cacheSeconds: Number(env.APP_CACHE_SECONDS ?? "60"),
  };
}
