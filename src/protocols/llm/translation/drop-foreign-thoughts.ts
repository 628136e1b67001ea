import { Pace, type Steps } from '#base/in-slices.ts'
import { isTagged } from '../chat/tagged-secrets.ts'
import { FORMATS } from '../dialects/index.ts'
import { JsonValue, parseInSteps } from '../json/json-document.ts'
import { RemovedElements } from '../json/removed-elements.ts'
import { type Splice, spliceInSteps } from '../json/splice.ts'
import type { ClientFormat } from '../settings/route-type.ts'

/** Members of which one has the secret, by the type of the thought. */
const SECRETS: ReadonlyMap<string, string> = new Map([
  ['reasoning', 'encrypted_content'],
  ['thinking', 'signature'],
])

/** Whether a request of this type that passes as it is has thoughts, or a text like one, of providers of other APIs. */
export function mayHaveForeignThoughts(type: ClientFormat, body: Uint8Array): boolean {
  return FORMATS[type].thoughtsIn !== undefined && isTagged(body)
}

/**
 * Removes the thoughts of providers of other APIs from a request that passes as it is, because its provider would refuse them: the history
 * began at another provider of the same group. A message that had nothing else is removed, too. @returns `body` itself if there are none
 */
export function* dropForeignThoughts(type: ClientFormat, body: Uint8Array): Steps<Uint8Array> {
  if (!mayHaveForeignThoughts(type, body)) return body
  const document = yield* parseInSteps(body)
  if (!(document instanceof JsonValue)) return body
  const pace = new Pace()
  return yield* spliceInSteps(body, yield* findThoughts(type, document, pace), pace)
}

function* findThoughts(type: ClientFormat, document: JsonValue, pace: Pace): Steps<readonly Splice[]> {
  const { thoughtsIn } = FORMATS[type]
  if (thoughtsIn === 'messages') return yield* findInMessages(document.get(thoughtsIn), pace)
  return (yield* removalsIn(document.get(thoughtsIn!), pace)).splices
}

function* findInMessages(list: JsonValue | undefined, pace: Pace): Steps<readonly Splice[]> {
  const messages = new RemovedElements()
  const inside: Splice[] = []
  const children = list?.children()
  for (let message = children?.next(); message !== undefined; message = children?.next()) {
    const content = yield* removalsIn(message.get('content'), pace)
    if (content.areAll) messages.remove(message)
    else {
      messages.keep(message)
      for (const splice of content.splices) inside.push(splice)
    }
    if (pace.after(WORK_PER_ELEMENT)) yield
  }
  return [...inside, ...messages.end().splices]
}

/** The work for an element, in the units of `Pace`. */
const WORK_PER_ELEMENT = 64

function* removalsIn(list: JsonValue | undefined, pace: Pace): Steps<RemovedElements> {
  const removed = new RemovedElements()
  const children = list?.kind === 'array' ? list.children() : undefined
  for (let element = children?.next(); element !== undefined; element = children?.next()) {
    if (isForeign(element)) removed.remove(element)
    else removed.keep(element)
    if (pace.after(WORK_PER_ELEMENT)) yield
  }
  return removed.end()
}

function isForeign(element: JsonValue): boolean {
  if (element.kind !== 'object') return false
  const kind = element.get('type')
  const secret = kind?.kind === 'string' ? SECRETS.get(kind.text) : undefined
  const value = secret === undefined ? undefined : element.get(secret)
  return value !== undefined && value.kind === 'string' && isTagged(value.json)
}
