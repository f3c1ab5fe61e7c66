import { z } from 'zod'

/** Ids of other forms are refused by the servers, and no record has one. */
export function isPointId(id: string): boolean {
  return z.uuid().safeParse(id).success
}
