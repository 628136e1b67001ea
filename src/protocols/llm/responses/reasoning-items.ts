import type { Part } from '../conversation.ts'
import { decodeText } from '../json/decode-text.ts'
import type { JsonValue } from '../json/json-document.ts'
import { ObjectReader } from '../json/object-reader.ts'
import { JsonPieces, type JsonText } from '../json/write-json.ts'
import type { Losses } from '../losses.ts'
import { Untranslatable } from '../untranslatable.ts'

type Secret = 'signature' | 'redacted'

/** What `encrypted_content` begins with if this gateway has written it (docs/behaviour/llm.md, "The responses API"). */
const TAG = /^"gatewright:(completions|messages|converse):(signature|redacted):/
/** No tag is longer. */
const MAX_TAG = 48

/** The `encrypted_content` of a thought: by what its provider recognizes it, or all that the provider shows of it. */
export function encryptedContent(provider: string, secret: Secret, data: string): string {
  return `gatewright:${provider}:${secret}:${data}`
}

/** The thought of a reasoning item; none if nothing is left of it. */
export function readReasoningItem(reader: ObjectReader, losses: Losses): readonly Part[] {
  const origin = reader.value
  const summary = readTexts(reader, 'summary', 'summary_text', losses)
  const content = readTexts(reader, 'content', 'reasoning_text', losses)
  const text = joined(content.length > 0 ? content : summary)
  const encrypted = reader.takeKind('encrypted_content', 'string')
  const secret = encrypted && readSecret(encrypted, losses)
  if (secret?.kind === 'redacted') return [{ kind: 'redacted', data: secret.data, provider: secret.provider, origin }]
  if (secret === undefined && text === undefined) return []
  const signed = { signature: secret?.data, provider: secret?.provider }
  return [{ kind: 'thinking', text: text ?? new JsonPieces('""'), ...signed, origin }]
}

function readTexts(reader: ObjectReader, name: string, type: string, losses: Losses): readonly Uint8Array[] {
  return reader.list(name).map((value) => {
    const part = new ObjectReader(value)
    if (part.text('type') !== type) throw new Untranslatable(value, `must be of the type ${type}`)
    const text = part.require('text', part.literal('text'))
    part.drop(losses)
    return text
  })
}

function readSecret(encrypted: JsonValue, losses: Losses) {
  const bytes = encrypted.json
  const tag = TAG.exec(decodeText(bytes, 0, Math.min(bytes.length, MAX_TAG)))
  if (tag === null) {
    losses.drop(encrypted, 'only the provider that wrote it can read it')
    return undefined
  }
  const data: JsonText = new JsonPieces('"', bytes.subarray(tag[0].length))
  return { provider: tag[1], kind: tag[2] as Secret, data }
}

/** Several strings as one. */
function joined(texts: readonly Uint8Array[]): JsonText | undefined {
  if (texts.length < 2) return texts[0]
  const pieces = texts.flatMap((text, at) => (at === 0 ? [text.subarray(1, -1)] : ['\\n\\n', text.subarray(1, -1)]))
  return new JsonPieces('"', ...pieces, '"')
}
