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

const CONFIGURED = "us-east, eu-west, ap-south";

describe("scheduling with a list of regions", () => {
  const regions = activeRegions({ SCHEDULER_REGIONS: CONFIGURED });
  const plan = planJobs(JOBS, regions);

  it("queues the jobs of the first region by priority", () => {
    assert.deepEqual(plan.queues["us-east"], ["backup", "billing"]);
  });

  it("queues the jobs of the second configured region", () => {
    assert.deepEqual(
      plan.queues["eu-west"],
      ["reindex"],
      `the second value of the comma-separated setting SCHEDULER_REGIONS="${CONFIGURED}" is not served`,
    );
  });

  it("holds back only jobs whose region is not in the list", () => {
    assert.deepEqual(
      plan.heldBack,
      ["survey"],
      `jobs for further values of SCHEDULER_REGIONS="${CONFIGURED}" are held back`,
    );
  });
});

describe("scheduling without a list of regions", () => {
  it("uses the home region alone", () => {
    const plan = planJobs(JOBS, activeRegions({}));
    assert.deepEqual(Object.keys(plan.queues), ["us-east"]);
  });
});
