import { JsonValue, parseDocument } from '../json/json-document.ts'
import { applySplices, type Splice } from '../json/splice.ts'
import { JsonPieces, writeJson } from '../json/write-json.ts'
import type { ClientFormat } from '../request/route-type.ts'
import { isTagged } from './tagged-secrets.ts'

/** Members of which one has the secret, by the type of the thought. */
const SECRETS: ReadonlyMap<string, string> = new Map([
  ['reasoning', 'encrypted_content'],
  ['thinking', 'signature'],
])

/**
 * Removes the thoughts of providers of other APIs from a request that passes as it is, because its provider would refuse them: the history
 * began at another provider of the same group. @returns `body` itself if there are none
 */
export function dropForeignThoughts(type: ClientFormat, body: Uint8Array): Uint8Array {
  if (type === 'Completions' || !isTagged(body)) return body
  const document = parseDocument(body)
  if (!(document instanceof JsonValue)) return body
  const splices = listsOf(type, document).flatMap((list) => without(list, body))
  return applySplices(body, splices)
}

/** Lists that may have thoughts. */
function listsOf(type: ClientFormat, document: JsonValue): readonly JsonValue[] {
  switch (type) {
    case 'Responses':
      return [document.get('input')].filter((list) => list !== undefined)
    case 'Messages':
    case 'MessagesTokenCount':
      return (document.get('messages')?.elements ?? []).flatMap((message) => message.get('content') ?? [])
    default:
      return []
  }
}

function without(list: JsonValue, body: Uint8Array): readonly Splice[] {
  const kept = list.elements.filter((element) => !isForeign(element))
  if (kept.length === list.elements.length) return []
  const start = list.json.byteOffset - body.byteOffset
  const pieces = kept.flatMap(({ json }, at) => (at === 0 ? [json] : [',', json]))
  return [{ start, end: start + list.json.length, text: writeJson(new JsonPieces(['[', ...pieces, ']'])) }]
}

function isForeign(element: JsonValue): boolean {
  if (element.kind !== 'object') return false
  const kind = element.get('type')
  const secret = kind?.kind === 'string' ? SECRETS.get(kind.text) : undefined
  const value = secret === undefined ? undefined : element.get(secret)
  return value !== undefined && value.kind === 'string' && isTagged(value.json)
}
