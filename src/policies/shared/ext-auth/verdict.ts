import { toByteText } from '#base/byte-text.ts'
import type { JsonObject } from '#base/json.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { type Outcome, proceed, type Refusal } from '#exchange/outcome.ts'
import type { Head } from '#net/http/head.ts'
import { editHeader, type HeaderEdit } from '../fields/header-edits.ts'
import { withoutQueryParameter, withQueryParameter } from '../url/query.ts'

/** What an authorization server decided. It does not refer to the request, so a cache can keep it. */
export interface Verdict {
  /** Status of the answer, or the name of its gRPC status. */
  readonly status: string
  /** Undefined: the request is allowed. */
  readonly refusal: Refusal | undefined
  readonly edits: RequestEdits
  /** Later expressions read it as `extauthz`. */
  readonly metadata: JsonObject | undefined
  /** What the answer takes in memory, with its metadata. */
  readonly bytes: number
}

/** Changes of a request that is allowed, in this order. */
export interface RequestEdits {
  readonly removedHeaders: readonly string[]
  readonly headers: readonly HeaderEdit[]
  readonly setParameters: readonly (readonly [name: string, value: string])[]
  readonly removedParameters: readonly string[]
  /** For the response to the client. */
  readonly responseHeaders: readonly (readonly [lowerName: string, value: string])[]
}

export const NO_EDITS: RequestEdits = {
  removedHeaders: [],
  headers: [],
  setParameters: [],
  removedParameters: [],
  responseHeaders: [],
}

/** Applies a decision to a request. */
export function applyVerdict({ refusal, edits, metadata }: Verdict, exchange: Exchange): Outcome {
  if (metadata !== undefined) addMetadata(exchange, metadata)
  if (refusal !== undefined) return refusal
  const { request } = exchange
  for (const name of edits.removedHeaders) request.remove(name)
  for (const edit of edits.headers) editHeader(request, edit)
  if (edits.setParameters.length > 0 || edits.removedParameters.length > 0) editQuery(request, edits)
  for (const [name, value] of edits.responseHeaders) exchange.queueHeader(name, value)
  return proceed
}

/** Without a prototype, because the server chooses the names. */
function addMetadata(exchange: Exchange, metadata: JsonObject): void {
  exchange.extauthz = Object.assign(Object.create(null), exchange.extauthz, metadata)
}

function editQuery(head: Head, { setParameters, removedParameters }: RequestEdits): void {
  let { target } = head
  for (const [name, value] of setParameters) target = withQueryParameter(target, name, toByteText(value))
  for (const name of removedParameters) target = withoutQueryParameter(target, name)
  head.target = target
}
