import type { Policy } from "./policy.ts";

export interface Outcome {
  ok: boolean;
  attempts: number;
  message: string;
}

export function runWithPolicy(task: () => void, policy: Policy): Outcome {
  let attempts = 0;
  let reason = "";
  while (attempts <= policy.retries) {
    attempts += 1;
    try {
      task();
      return { ok: true, attempts, message: `${policy.label} done` };
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
  }
  return { ok: false, attempts, message: `${policy.label} failed: ${reason}` };
}
