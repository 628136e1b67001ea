import { Pace, type Steps } from '#base/in-slices.ts'
import { BodyEdits } from '../json/edit-members.ts'
import { type JsonChildren, JsonValue, parseInSteps } from '../json/json-document.ts'
import { hasText } from '../json/native.ts'
import { findMember, type Members, scanMembers } from '../json/scan-members.ts'
import { encode, type Splice, spliceInSteps } from '../json/splice.ts'

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
export function* editMessagesBody(body: Uint8Array, { version, model }: MessagesBodyRules): Steps<Uint8Array> {
  const unscoped = yield* withoutCacheScopes(body)
  // The members of a long body are scanned in another turn.
  yield
  const members = membersOf(unscoped)
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
// biome-ignore lint/correctness/useYield: it is short work, but edits of bodies may be long.
export function* replaceModel(body: Uint8Array, model: string): Steps<Uint8Array> {
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

/** The work for a value besides that for an edit, in the units of `Pace`. */
const WORK_PER_VALUE = 16

function* withoutCacheScopes(body: Uint8Array): Steps<Uint8Array> {
  // Most bodies have none, and a long one takes long to parse.
  if (!SCOPES.some((each) => hasText(body, each))) return body
  const document = yield* parseInSteps(body)
  // A key occurs twice, or there are too many parts.
  if (!(document instanceof JsonValue)) return body
  const pace = new Pace()
  return yield* spliceInSteps(body, yield* findCacheScopes(document, pace), pace)
}

function* findCacheScopes(document: JsonValue, pace: Pace): Steps<readonly Splice[]> {
  const splices: Splice[] = []
  /** Lists and objects around the next value, outermost first. */
  const open: JsonChildren[] = [document.children()]
  for (let around = open.at(-1); around !== undefined; around = open.at(-1)) {
    if (pace.after(WORK_PER_VALUE)) yield
    const value = around.next()
    if (value === undefined) open.pop()
    else if (value.kind !== 'object' && value.kind !== 'array') continue
    else if (around.isObject && around.name === 'cache_control') splices.push(...withoutScope(value))
    else open.push(value.children())
  }
  return splices
}

function withoutScope(mark: JsonValue): readonly Splice[] {
  if (mark.kind !== 'object') return []
  const members = membersOf(mark.json)
  const scope = findMember(members, 'scope')
  if (scope < 0) return []
  const edits = new BodyEdits(members)
  edits.remove(scope)
  return [{ start: mark.place, end: mark.end, text: edits.apply() }]
}
