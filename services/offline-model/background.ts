import { ApiError } from './api-error.ts'
import type { ResponsesStore, StoredResponse } from './responses-store.ts'

/**
 * How long a background response is said to be under way. The program has its answer at once; a
 * client that cannot wait for one should find that out here.
 */
export const BACKGROUND_MS = 50

type Body = Record<string, unknown>

/** The response as it stands at `now`. */
export function bodyAt(stored: StoredResponse, now: Date): Body {
  return isUnderWay(stored, now) ? unfinished(stored.body, 'in_progress') : stored.body
}

export function isUnderWay({ ready_at }: StoredResponse, now: Date): boolean {
  return ready_at !== null && now.getTime() < ready_at
}

/** A body without what is only known at the end. */
export function unfinished(body: Body, status: 'queued' | 'in_progress' | 'cancelled'): Body {
  return {
    ...body,
    status,
    output: [],
    usage: null,
    completed_at: null,
    incomplete_details: null,
  }
}

/**
 * POST /v1/responses/{id}/cancel: ends a background response that is under way; one that is done
 * stays as it is. Throws ApiError 404 for an unknown id, 400 for a response that was waited for.
 */
export async function cancelResponse(
  id: string,
  { store, now }: { store: ResponsesStore; now: () => Date },
): Promise<Body> {
  const stored = await store.load(id)
  if (!stored) throw responseNotFound(id)
  if (stored.ready_at === null) {
    throw new ApiError(400, 'Cannot cancel a synchronous response.', { param: 'response_id' })
  }
  if (!isUnderWay(stored, now())) return stored.body
  const body = unfinished(stored.body, 'cancelled')
  await store.save(id, { ...stored, output: [], body, ready_at: now().getTime() })
  return body
}

export function responseNotFound(id: string): ApiError {
  return new ApiError(404, `Response with id '${id}' not found.`, { param: 'response_id' })
}
