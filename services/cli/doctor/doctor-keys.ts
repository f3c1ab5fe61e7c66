import type { Config } from '../../../shared/config.ts'
import { KeyFileError } from '../../../shared/keys/key-file.ts'
import { readSigningKey } from '../../../shared/keys/signing-key.ts'
import { listTrustedKeys } from '../../../shared/keys/trusted-keys.ts'
import type { Finding } from './check.ts'

/** Whether receipts can be signed and checked: one damaged key file stops searches and stores. */
export function examineKeys({ home }: Pick<Config, 'home'>): Finding {
  try {
    return judge(
      readSigningKey(home)?.keyId ?? null,
      listTrustedKeys(home).map(({ key_id }) => key_id),
    )
  } catch (error) {
    if (!(error instanceof KeyFileError)) throw error
    return { result: 'fail', found: error.message, advice: error.hint ?? null }
  }
}

function judge(signing: string | null, trusted: readonly string[]): Finding {
  const found = `${trusted.length} trusted`
  if (signing === null) {
    const none = trusted.length === 0 ? 'none yet' : `none that signs, ${found}`
    return { result: 'ok', found: `${none}: the first start makes one`, advice: null }
  }
  if (trusted.includes(signing)) {
    return { result: 'ok', found: `${signing} signs, ${found}`, advice: null }
  }
  return {
    result: 'fail',
    found: `the signing key ${signing} is not trusted: no fix that it proves can be stored`,
    advice: '`astra keys export | astra keys trust -` trusts it; `astra keys rotate` makes another',
  }
}
