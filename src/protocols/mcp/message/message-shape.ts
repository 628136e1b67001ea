import type { Json } from '#base/json.ts'
import { type ObjectShape, shapeOf } from '#base/json-ambiguity.ts'
import { META as MODERN_META } from './meta.ts'

/**
 * The members of messages that rules, routing or rewriting read, by method, in both directions. They must be unambiguous (decision B71).
 * The contents of arguments concern only client and target.
 */

const META = shapeOf({ progressToken: undefined, [MODERN_META.protocolVersion]: undefined })

function paramsWith(members: Readonly<Record<string, ObjectShape | undefined>>): ObjectShape {
  return shapeOf({ ...members, _meta: META })
}

function messageWith(params: ObjectShape): ObjectShape {
  return shapeOf({
    jsonrpc: undefined,
    id: undefined,
    method: undefined,
    params,
    result: undefined,
    error: undefined,
  })
}

const ROUND = { requestState: undefined, inputResponses: undefined }
const NAMED = messageWith(paramsWith({ name: undefined, arguments: undefined, ...ROUND }))
const LOCATED = messageWith(paramsWith({ uri: undefined, ...ROUND }))
const TASK = messageWith(paramsWith({ taskId: undefined }))
const PAGED = messageWith(paramsWith({ cursor: undefined }))
const REFERRING = messageWith(paramsWith({ ref: shapeOf({ type: undefined, name: undefined, uri: undefined }) }))

const SHAPES: ReadonlyMap<Json | undefined, ObjectShape> = new Map([
  ['initialize', messageWith(paramsWith({ protocolVersion: undefined, capabilities: shapeOf({ tasks: undefined }) }))],
  ['tasks/list', PAGED],
  ['tasks/get', TASK],
  ['tasks/result', TASK],
  ['tasks/update', TASK],
  ['tasks/cancel', TASK],
  ['subscriptions/listen', messageWith(paramsWith({ notifications: undefined }))],
  ['tools/list', PAGED],
  ['prompts/list', PAGED],
  ['resources/list', PAGED],
  ['resources/templates/list', PAGED],
  ['tools/call', NAMED],
  ['prompts/get', NAMED],
  ['resources/read', LOCATED],
  ['resources/subscribe', LOCATED],
  ['resources/unsubscribe', LOCATED],
  ['completion/complete', REFERRING],
  ['notifications/cancelled', messageWith(paramsWith({ requestId: undefined }))],
  ['notifications/progress', messageWith(paramsWith({ progressToken: undefined }))],
  ['notifications/resources/updated', LOCATED],
])

const USUAL = messageWith(paramsWith({}))

/** The members that are read for this method; undefined method: a response. */
export function messageShape(method: Json | undefined): ObjectShape {
  return SHAPES.get(method) ?? USUAL
}
