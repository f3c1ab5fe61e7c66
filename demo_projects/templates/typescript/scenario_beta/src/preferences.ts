import { canonicalName } from "./names.ts";

const DEFAULTS = {
  audit_log: "off",
  max_upload_size: "10mb",
  retention: "30d",
};

export type Preference = { name: string; value: string };

export class Preferences {
  readonly #values = new Map<string, string>(Object.entries(DEFAULTS));

  get(name: string): Preference | undefined {
    const canonical = canonicalName(name);
    const value = this.#values.get(canonical);
    return value === undefined ? undefined : { name: canonical, value };
  }

  set(name: string, value: string): Preference | undefined {
    const canonical = canonicalName(name);
    if (!this.#values.has(canonical)) return undefined;
    this.#values.set(canonical, value);
    return { name: canonical, value };
  }
}
