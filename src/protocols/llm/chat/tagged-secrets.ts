import type { JsonValue } from '../json/json-document.ts'
import { decodeText, hasText } from '../json/native.ts'
import { JsonPieces, type JsonText } from '../json/write-json.ts'

// What only its provider understands of a thought goes through clients whose history may go to another provider, so that it says whose it is.

/** That by which the provider recognizes a thought, or all that it shows of it. */
export type Secret = 'signature' | 'redacted'

const TAG = /^"gatewright:(completions|messages|converse):(signature|redacted):/
/** No tag is longer. */
const MAX_TAG = 48

/** @param provider the dialect of the provider */
export function tagSecret(provider: string, secret: Secret, data: string): string {
  return `gatewright:${provider}:${secret}:${data}`
}

/** How tagged strings begin. */
const MARK = '"gatewright:'

/** Whether the JSON has a tagged string, or a text like one. */
export function isTagged(json: Uint8Array): boolean {
  return hasText(json, MARK)
}

/** What a string says that this gateway has tagged; undefined for other strings. */
export function readTaggedSecret({ json }: JsonValue): { provider: string; kind: Secret; data: JsonText } | undefined {
  const tag = TAG.exec(decodeText(json, 0, Math.min(json.length, MAX_TAG)))
  if (tag === null) return undefined
  return { provider: tag[1]!, kind: tag[2] as Secret, data: new JsonPieces(['"', json.subarray(tag[0].length)]) }
}
