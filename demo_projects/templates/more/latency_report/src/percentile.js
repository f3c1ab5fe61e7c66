/** The nearest-rank percentile of `samples`, which must not be empty. */
export function percentile(samples, percent) {
  const ordered = [...samples].sort();
  const rank = Math.ceil((percent / 100) * ordered.length);
  return ordered[Math.max(rank, 1) - 1];
}
