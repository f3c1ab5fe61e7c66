import type { Outbox } from "./outbox.ts";

export interface Order {
  id: string;
  email: string;
}

export interface Confirmation {
  orderId: string;
  status: "confirmed" | "call customer";
  reference: string;
}

export async function confirmOrder(
  order: Order,
  outbox: Outbox,
): Promise<Confirmation> {
  const text = `Thank you for order ${order.id}.`;
  const receipt = outbox.send(order.email, text);
  return {
    orderId: order.id,
    status: receipt.accepted ? "confirmed" : "call customer",
    reference: receipt.reference,
  };
}
