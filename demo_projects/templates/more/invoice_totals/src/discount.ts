interface Step {
  fromCents: number;
  percent: number;
}

const STEPS: Step[] = [
  { fromCents: 50_000, percent: 10 },
  { fromCents: 10_000, percent: 5 },
];

export function discountPercent(subtotalCents: number): number {
  for (const step of STEPS) {
    if (subtotalCents > step.fromCents) return step.percent;
  }
  return 0;
}
