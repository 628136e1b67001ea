import type { JsonValue } from '../json/json-document.ts'
import { ObjectReader } from '../json/object-reader.ts'
import { JsonPieces, type JsonText } from '../json/write-json.ts'
import type { Part } from '../translation/conversation.ts'
import type { Losses } from '../translation/losses.ts'
import { readTaggedSecret } from '../translation/tagged-secrets.ts'
import { Untranslatable } from '../translation/untranslatable.ts'

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
  const secret = readTaggedSecret(encrypted)
  if (secret === undefined) losses.drop(encrypted, 'only the provider that wrote it can read it')
  return secret
}

/** Several strings as one. */
function joined(texts: readonly Uint8Array[]): JsonText | undefined {
  if (texts.length < 2) return texts[0]
  const pieces = texts.flatMap((text, at) => (at === 0 ? [text.subarray(1, -1)] : ['\\n\\n', text.subarray(1, -1)]))
  return new JsonPieces('"', ...pieces, '"')
}
