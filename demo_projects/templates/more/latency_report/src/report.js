import { percentile } from "./percentile.js";

export function summarise(samples) {
  if (samples.length === 0) return undefined;
  return {
    min: percentile(samples, 0),
    median: percentile(samples, 50),
    p95: percentile(samples, 95),
    max: percentile(samples, 100),
  };
}

export function reportLine(route, samples) {
  const summary = summarise(samples);
  if (summary === undefined) return `${route} no samples`;
  const { min, median, p95, max } = summary;
  return `${route} min=${min} median=${median} p95=${p95} max=${max}`;
}
