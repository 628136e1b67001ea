import { BodyEdits } from '../json/edit-members.ts'
import { JsonValue, parseDocument } from '../json/json-document.ts'
import { decodeLatin1 } from '../json/native.ts'
import { findMember, type Members, scanMembers } from '../json/scan-members.ts'
import { applySplices, encode, type Splice } from '../json/splice.ts'

/** What a cloud that serves the messages API requires of its bodies. */
export interface MessagesBodyRules {
  /** Value of `anthropic_version`. */
  readonly version: string
  /** Replaces the model; undefined: the model is in the path, and the member is removed. */
  readonly model: string | undefined
}

/**
 * Changes a body of the messages API for such a cloud. It refuses `output_format`, which `output_config` has replaced, and `scope` in a
 * `cache_control` at any depth.
 */
export function editMessagesBody(body: Uint8Array, { version, model }: MessagesBodyRules): Uint8Array {
  const members = membersOf(withoutCacheScopes(body))
  const edits = new BodyEdits(members)
  edits.set('anthropic_version', findMember(members, 'anthropic_version'), encode(JSON.stringify(version)))
  const at = findMember(members, 'model')
  if (model !== undefined) edits.set('model', at, encode(JSON.stringify(model)))
  else if (at >= 0) edits.remove(at)
  const format = findMember(members, 'output_format')
  if (format >= 0) edits.remove(format)
  return edits.apply()
}

/** Replaces the model of a body. */
export function replaceModel(body: Uint8Array, model: string): Uint8Array {
  const members = membersOf(body)
  const edits = new BodyEdits(members)
  edits.set('model', findMember(members, 'model'), encode(JSON.stringify(model)))
  return edits.apply()
}

function membersOf(body: Uint8Array): Members {
  const members = scanMembers(body)
  if ('fault' in members) throw new Error('a body that is edited must be well-formed')
  return members
}

/** A key that is written with escapes has such an escape. */
const SCOPES = ['scope', '\\u']

function withoutCacheScopes(body: Uint8Array): Uint8Array {
  // Most bodies have none, and a long one takes long to parse.
  const text = decodeLatin1(body, 0, body.length)
  if (!SCOPES.some((each) => text.includes(each))) return body
  const document = parseDocument(body)
  // Malformed escapes: the provider refuses the body.
  if (!(document instanceof JsonValue)) return body
  const splices: Splice[] = []
  findCacheScopes(document, body, splices)
  return applySplices(body, splices)
}

function findCacheScopes(value: JsonValue, body: Uint8Array, splices: Splice[]): void {
  for (const element of value.elements) findCacheScopes(element, body, splices)
  for (const [key, member] of value.members) {
    if (key === 'cache_control' && member.get('scope') !== undefined) splices.push(withoutScope(member, body))
    else findCacheScopes(member, body, splices)
  }
}

function withoutScope(mark: JsonValue, body: Uint8Array): Splice {
  const { json } = mark
  const start = json.byteOffset - body.byteOffset
  const members = membersOf(json)
  const edits = new BodyEdits(members)
  edits.remove(findMember(members, 'scope'))
  return { start, end: start + json.length, text: edits.apply() }
}
