import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Job } from "../src/job.ts";
import { activeRegions } from "../src/regions.ts";
import { planJobs } from "../src/scheduler.ts";

const JOBS: Job[] = [
  { name: "billing", region: "us-east", priority: 1 },
  { name: "backup", region: "us-east", priority: 5 },
  { name: "reindex", region: "eu-west", priority: 2 },
  { name: "mail-digest", region: "ap-south", priority: 3 },
  { name: "survey", region: "sa-east", priority: 1 },
];

describe("scheduling with a list of regions", () => {
  const regions = activeRegions({
    SCHEDULER_REGIONS: "us-east, eu-west, ap-south",
  });
  const plan = planJobs(JOBS, regions);

  it("queues the jobs of the first region by priority", () => {
    assert.deepEqual(plan.queues["us-east"], ["backup", "billing"]);
  });

  it("queues the jobs of every further region", () => {
    assert.deepEqual(
      Object.keys(plan.queues).sort(),
      ["ap-south", "eu-west", "us-east"],
      `regions that got a queue, out of the comma-separated list: ${Object.keys(plan.queues)}`,
    );
  });

  it("holds back only jobs whose region is not in the list", () => {
    assert.deepEqual(
      plan.heldBack,
      ["survey"],
      `jobs held back as if their region was not configured: ${plan.heldBack.join(", ")}`,
    );
  });
});

describe("scheduling without a list of regions", () => {
  it("uses the home region alone", () => {
    const plan = planJobs(JOBS, activeRegions({}));
    assert.deepEqual(Object.keys(plan.queues), ["us-east"]);
  });
});
