import { discountPercent } from "./discount.ts";

export interface Line {
  article: string;
  quantity: number;
  unitCents: number;
}

export interface Totals {
  subtotal: number;
  discount: number;
  total: number;
}

export function invoiceTotals(lines: Line[]): Totals {
  const subtotal = lines.reduce(
    (sum, line) => sum + line.quantity * line.unitCents,
    0,
  );
  const discount = Math.round((subtotal * discountPercent(subtotal)) / 100);
  return { subtotal, discount, total: subtotal - discount };
}
