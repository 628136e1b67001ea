import type { JsonValue } from '../json/json-document.ts'
import { ObjectReader } from '../json/object-reader.ts'
import { JsonPieces, type JsonText } from '../json/write-json.ts'
import type { Part } from '../translation/conversation.ts'
import type { Loops } from '../translation/loops.ts'
import type { Losses } from '../translation/losses.ts'
import { readTaggedSecret } from '../translation/tagged-secrets.ts'
import { Untranslatable } from '../translation/untranslatable.ts'

/** The thought of a reasoning item; none if nothing is left of it. The list is complete when all loops have run. */
export function readReasoningItem(reader: ObjectReader, loops: Loops, losses: Losses): readonly Part[] {
  const origin = reader.value
  const parts: Part[] = []
  const summary = readTexts(reader, 'summary', 'summary_text', loops, losses)
  const content = readTexts(reader, 'content', 'reasoning_text', loops, losses)
  const encrypted = reader.takeKind('encrypted_content', 'string')
  const secret = encrypted && readSecret(encrypted, losses)
  if (secret?.kind === 'redacted') {
    return [{ kind: 'redacted', data: secret.data, provider: secret.provider, origin }]
  }
  loops.after(() => {
    const text = joined(content.length > 0 ? content : summary)
    if (secret === undefined && text === undefined) return
    const signed = { signature: secret?.data, provider: secret?.provider }
    parts.push({ kind: 'thinking', text: text ?? new JsonPieces(['""']), ...signed, origin })
  })
  return parts
}

function readTexts(
  reader: ObjectReader,
  name: string,
  type: string,
  loops: Loops,
  losses: Losses,
): readonly Uint8Array[] {
  const texts: Uint8Array[] = []
  loops.eachOf(reader.list(name), (value) => {
    const part = new ObjectReader(value)
    if (part.text('type') !== type) throw new Untranslatable(value, `must be of the type ${type}`)
    const text = part.require('text', part.literal('text'))
    part.drop(losses)
    texts.push(text)
  })
  return texts
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
  return new JsonPieces(['"', ...pieces, '"'])
}
