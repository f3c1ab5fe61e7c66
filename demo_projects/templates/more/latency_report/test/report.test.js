import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { percentile } from "../src/percentile.js";
import { reportLine, summarise } from "../src/report.js";

describe("percentile", () => {
  it("takes the middle of samples with equally many digits", () => {
    assert.equal(percentile([30, 10, 20], 50), 20);
  });

  it("leaves the samples in their order", () => {
    const samples = [30, 10, 20];
    percentile(samples, 50);
    assert.deepEqual(samples, [30, 10, 20]);
  });

  it("takes the middle of samples of any size", () => {
    assert.equal(
      percentile([9, 120, 15, 1100, 87], 50),
      87,
      "the median of 9, 15, 87, 120 and 1100 ms",
    );
  });
});

describe("report", () => {
  it("says when there are no samples", () => {
    assert.equal(reportLine("/cart", []), "/cart no samples");
  });

  it("finds the fastest and the slowest response", () => {
    const { min, max } = summarise([250, 9, 1100, 87]);
    assert.deepEqual({ min, max }, { min: 9, max: 1100 });
  });

  it("prints the summary on one line", () => {
    const line = reportLine("/pay", [8, 40, 200, 1000]);
    assert.equal(line, "/pay min=8 median=40 p95=1000 max=1000");
  });
});
