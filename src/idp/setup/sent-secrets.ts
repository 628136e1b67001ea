import { parseJson } from '#base/parse-json.ts'
import type { IdpCall } from './idp-call.ts'

/** Members of bodies that nobody may read over a shoulder. */
const MEMBERS: readonly string[] = ['password', 'client_secret', 'value']
/** Shorter texts are parts of words. */
const MIN_LENGTH = 4

/** A body as it may be shown. */
export function hideSecrets(body: unknown): unknown {
  return parseJson(JSON.stringify(body, (name, value) => (MEMBERS.includes(name) ? '***' : value)))
}

/** The secrets of all calls so far: a provider may repeat them in its errors. */
export class SentSecrets {
  readonly #secrets = new Set<string>()

  add({ token, form, json }: IdpCall): void {
    if (token !== undefined) this.#secrets.add(token)
    JSON.stringify({ form, json }, (name, value) => {
      if (typeof value === 'string' && MEMBERS.includes(name)) this.#secrets.add(value)
      return value
    })
  }

  /** The text with `***` for each secret. */
  hideIn(text: string): string {
    const longestFirst = [...this.#secrets].sort((one, other) => other.length - one.length)
    return longestFirst.reduce((hidden, secret) => {
      return secret.length < MIN_LENGTH ? hidden : hidden.replaceAll(secret, '***')
    }, text)
  }
}
