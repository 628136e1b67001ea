import type { Json, JsonObject } from '#base/json.ts'
import { isMessageId, isObject, type MessageId, type RequestMessage } from '../message/json-rpc.ts'
import { META } from '../message/meta.ts'
import { RELATED_TASK } from '../target/related-task.ts'

/** The request of a client of the modern era without the members that only this era has. */
export function legacyRequest({ json, params = {} }: RequestMessage): string {
  const { inputResponses: _, requestState: _state, _meta: meta, ...rest } = params
  const kept = isObject(meta) ? Object.entries(meta).filter(([name]) => !ENVELOPE.has(name)) : []
  const legacy = { ...rest, ...(kept.length > 0 && { _meta: Object.fromEntries(kept) }) }
  return JSON.stringify({ ...json, params: legacy })
}

const ENVELOPE: ReadonlySet<string> = new Set([
  META.protocolVersion,
  META.clientCapabilities,
  META.clientInfo,
  META.logLevel,
])

/** What a client of the modern era says of itself in each request. */
export interface ClientEnvelope {
  readonly capabilities: JsonObject
  readonly clientInfo: JsonObject | undefined
  /** The client wants log messages of this level. */
  readonly logLevel: string | undefined
  readonly progressToken: MessageId | undefined
}

export function envelopeOf({ params }: Pick<RequestMessage, 'params'>): ClientEnvelope {
  const meta: JsonObject = isObject(params?._meta) ? params._meta : {}
  const {
    [META.clientCapabilities]: capabilities,
    [META.clientInfo]: info,
    [META.logLevel]: level,
    progressToken,
  } = meta
  return {
    capabilities: isObject(capabilities) ? capabilities : {},
    clientInfo: isObject(info) ? info : undefined,
    logLevel: typeof level === 'string' ? level : undefined,
    progressToken: isMessageId(progressToken) ? progressToken : undefined,
  }
}

/** Whether a target may ask a client for this (revision 2026-07-28, "Multi Round-Trip Requests"). */
export function mayAsk({ elicitation, sampling, roots }: JsonObject, method: string, params: JsonObject = {}): boolean {
  switch (method) {
    case 'elicitation/create':
      if (!isObject(elicitation)) return false
      return params.mode === 'url'
        ? isObject(elicitation.url)
        : isObject(elicitation.form) || !isObject(elicitation.url)
    case 'sampling/createMessage':
      return isObject(sampling) && (params.tools === undefined || isObject(sampling.tools))
    case 'roots/list':
      return isObject(roots)
    default:
      return false
  }
}

/** Whether a target may ask a client for anything. */
export function canBeAsked(capabilities: JsonObject): boolean {
  return ['elicitation', 'sampling', 'roots'].some((name) => isObject(capabilities[name]))
}

/** A request of a target as a member of `inputRequests`. A client of this era reports no progress, and does not know the task. */
export function inputRequest({ method, params }: Pick<RequestMessage, 'method' | 'params'>): JsonObject {
  if (params === undefined) return { method }
  const { _meta: meta, ...rest } = params
  if (!isObject(meta)) return { method, params }
  const { progressToken: _, [RELATED_TASK]: _task, ...kept } = meta as Readonly<Record<string, Json>>
  return { method, params: { ...rest, ...(Object.keys(kept).length > 0 && { _meta: kept }) } }
}
