import { setImmediate } from "node:timers/promises";

export interface Receipt {
  accepted: boolean;
  reference: string;
}

export class Outbox {
  readonly sent: string[] = [];

  async send(address: string, text: string): Promise<Receipt> {
    await setImmediate();
    const accepted = address.includes("@");
    if (accepted) this.sent.push(`${address}: ${text}`);
    return { accepted, reference: accepted ? `mail-${this.sent.length}` : "" };
  }
}
