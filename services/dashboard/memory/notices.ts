import { html } from 'hono/html'
import type { Html } from '../layout.ts'

/** What a write has done, by the word that its redirect carries. Nothing else of an address is shown. */
const NOTICES = {
  revoked: 'Revoked: no search answers with this memory any more.',
  'was-revoked': 'Nothing was changed: this memory was revoked already.',
  restored: 'Restored: searches may answer with this memory again.',
  'was-live': 'Nothing was changed: this memory was not revoked.',
  superseded:
    'The revocation is taken back. Searches still pass this memory over, because another one stands for it.',
} as const
export type Notice = keyof typeof NOTICES

export function noticeView(name: string | undefined): Html | '' {
  if (name === undefined || !Object.hasOwn(NOTICES, name)) return ''
  return html`<p class="notice good" role="status">${NOTICES[name as Notice]}</p>`
}
