import { byPriority, type Job } from "./job.ts";

export interface Plan {
  queues: Record<string, string[]>;
  heldBack: string[];
}

export function planJobs(jobs: Job[], regions: Set<string>): Plan {
  const plan: Plan = { queues: {}, heldBack: [] };
  for (const job of [...jobs].sort(byPriority)) {
    if (regions.has(job.region)) {
      plan.queues[job.region] ??= [];
      plan.queues[job.region]?.push(job.name);
    } else {
      plan.heldBack.push(job.name);
    }
  }
  return plan;
}
