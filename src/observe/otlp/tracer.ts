import { clock } from '#base/clock.ts'
import type { Json } from '#base/json.ts'
import type { SecretHider } from '#base/known-secrets.ts'
import type { EndedCall } from '#exchange/call.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import { readGrpcStatus } from '#exchange/read-grpc-status.ts'
import type { ClientSpan, RequestSpan } from '#exchange/request-span.ts'
import type { SpanSettings } from '#exchange/span-settings.ts'
import type { TracingSettings } from '#exchange/tracing-settings.ts'
import { grpcStatusName } from '#net/grpc/status-fields.ts'
import { cutName } from '../cut-name.ts'
import type { Ended } from '../ended.ts'
import { hideIn } from '../hide-in.ts'
import { isUnknownItem, MCP_METHODS } from '../metrics/known-values.ts'
import { AttributeFields } from './attribute-fields.ts'
import { CLIENT, encodeSpan, SERVER, SPAN_ATTRIBUTES, type SpanError } from './encode-span.ts'
import type { Exporters } from './exporters.ts'
import { clientFields, type EndedSpan, grpcMethod, isGrpc, knownMethod, requestFields, routeOf } from './span-fields.ts'

/** Attribute by expression that names the span instead. */
const SPAN_NAME = 'span.name'

/** Statuses of gRPC that are faults of the server (semantic conventions for gRPC). */
const SERVER_FAULTS: ReadonlySet<number | undefined> = new Set([2, 4, 12, 13, 14, 15])

type Added = readonly (readonly [name: string, value: Json])[]
const NONE: readonly (readonly [name: string, value: Json])[] = []

interface SpanFields {
  readonly request: AttributeFields<Ended>
  readonly client: AttributeFields<EndedSpan>
}

/** Exports the spans of traced requests: each one as soon as it has ended. */
export class Tracer {
  readonly #exporters: Exporters
  readonly #secrets: SecretHider
  readonly #fields = new WeakMap<SpanSettings, SpanFields>()

  constructor(exporters: Exporters, secrets: SecretHider) {
    this.#exporters = exporters
    this.#secrets = secrets
  }

  requestEnded(ended: Ended, of: RequestSpan): void {
    const { spanId, parentId } = of
    const settings = ended.request.settings!.tracing!
    const { exchange, durationMs } = ended
    const startMs = exchange.startMonotonicMs
    const added = this.#addedTo(ended, settings)
    const named = added.find(([name]) => name === SPAN_NAME)?.[1]
    const facts = {
      of,
      spanId,
      parentId,
      kind: SERVER,
      name: typeof named === 'string' && named !== '' ? named : nameOf(exchange),
      startMs,
      endMs: startMs + durationMs,
      error: this.#hidden(errorOf(ended)),
    } as const
    const attributes = named === undefined ? added : added.filter(([name]) => name !== SPAN_NAME)
    const fields = this.#fieldsOf(settings).request
    this.#exporters.add(settings.target, encodeSpan(facts, fields, ended, attributes))
  }

  /** @param exchange as the attempt has left it */
  attemptEnded(span: ClientSpan, exchange: Exchange): void {
    const { llm } = exchange
    const grpc = isGrpc(exchange) ? readGrpcStatus(exchange) : undefined
    if (grpc !== undefined) span.grpcStatus = grpcStatusName(`${grpc}`)
    this.#clientEnded({ span, exchange }, nameOfAttempt(span, llm))
  }

  callEnded({ status, grpcStatus, failure }: EndedCall, span: ClientSpan): void {
    span.status = status
    span.grpcStatus = grpcStatus
    span.failure = failure
    // It was never sent.
    if (span.startMs === 0) span.startMs = clock.monotonic()
    this.#clientEnded({ span, exchange: undefined }, nameOfCall(span))
  }

  #clientEnded(ended: EndedSpan, name: string): void {
    const { span } = ended
    const { of, spanId, startMs } = span
    const error = this.#hidden(errorOfClient(span, ended.exchange?.llm))
    const facts = {
      of,
      spanId,
      parentId: of.spanId,
      kind: CLIENT,
      name,
      startMs,
      endMs: clock.monotonic(),
      error,
    } as const
    const fields = this.#fieldsOf(of.settings).client
    this.#exporters.add(of.settings.target, encodeSpan(facts, fields, ended, NONE))
  }

  #addedTo({ exchange }: Ended, { add }: TracingSettings): Added {
    if (add.length === 0) return NONE
    const added = new Map<string, Json>()
    const write = (name: string, value: Json) => added.set(this.#secrets.hide(name), hideIn(value, this.#secrets))
    for (const { name, expression } of add) expression.writeAttributes(exchange, name, write)
    return [...added]
  }

  #hidden(error: SpanError | undefined): SpanError | undefined {
    if (error === undefined) return undefined
    const { type, message } = error
    return { type: this.#secrets.hideValues(type), message: message && this.#secrets.hide(message) }
  }

  #fieldsOf(settings: SpanSettings): SpanFields {
    let fields = this.#fields.get(settings)
    if (fields === undefined) {
      const { remove } = settings
      fields = {
        request: new AttributeFields(SPAN_ATTRIBUTES, requestFields(remove), this.#secrets, remove),
        client: new AttributeFields(SPAN_ATTRIBUTES, clientFields(remove), this.#secrets, remove),
      }
      this.#fields.set(settings, fields)
    }
    return fields
  }
}

/** A name that says what the request is about, with few different values (semantic conventions for MCP, RPC and HTTP spans). */
function nameOf(exchange: Exchange): string {
  const { mcp, matchedPath, originalMethod } = exchange
  if (mcp?.method !== undefined && MCP_METHODS.has(mcp.method)) {
    const named = mcp.resourceType === 'tool' || mcp.resourceType === 'prompt'
    return named && mcp.name !== undefined && !isUnknownItem(mcp.errorCode)
      ? `${mcp.method} ${cutName(mcp.name)}`
      : mcp.method
  }
  if (isGrpc(exchange)) return grpcMethod(exchange)
  const method = knownMethod(originalMethod)
  const known = method === '_OTHER' ? 'HTTP' : method
  return matchedPath === undefined ? known : `${known} ${routeOf(matchedPath)}`
}

/** Calls of models are named by operation and model (semantic conventions for generative AI). Token counts and what passes as it is are none. */
function nameOfAttempt({ request }: ClientSpan, llm: LlmFacts | undefined): string {
  if (llm?.operation === undefined) return knownMethod(request?.method ?? '')
  return cutName(`${llm.operation} ${llm.requestModel}`.trim())
}

function nameOfCall({ request, mcp, destination }: ClientSpan): string {
  if (mcp !== undefined) {
    const item = mcp.tool ?? mcp.prompt
    return cutName(item === undefined ? mcp.method : `${mcp.method} ${item}`)
  }
  if (request === undefined || destination === undefined) return 'call'
  return request.joined('content-type') === 'application/grpc' ? request.target.slice(1) : knownMethod(request.method)
}

/** Faults of the client are no errors of the server (semantic conventions for HTTP spans). */
function errorOf(ended: Ended): SpanError | undefined {
  const { exchange, status, code, reason, error: message } = ended
  const { mcp } = exchange
  if (status >= 500 || status === 0 || reason === 'UpstreamFailure') {
    return { type: code ?? exchange.llm?.errorType ?? (status >= 500 ? `${status}` : reason), message }
  }
  if (mcp?.errorCode !== undefined) return { type: `${mcp.errorCode}`, message: mcp.errorMessage ?? message }
  const grpc = isGrpc(exchange) ? readGrpcStatus(exchange) : undefined
  return SERVER_FAULTS.has(grpc) ? { type: grpcStatusName(`${grpc}`), message } : undefined
}

/** The name that the provider gives its error says more than how the attempt ended. */
function errorOfClient({ status, grpcStatus, failure }: ClientSpan, llm: LlmFacts | undefined): SpanError | undefined {
  const reported = llm?.errorType
  // A session goes on after an error.
  if (reported !== undefined && (failure !== undefined || llm?.operation !== 'realtime')) {
    return { type: reported, message: undefined }
  }
  if (failure !== undefined) return { type: failure, message: undefined }
  if (status === undefined) return { type: 'cancelled', message: undefined }
  if (status >= 400) return { type: `${status}`, message: undefined }
  return grpcStatus !== undefined && grpcStatus !== 'OK' ? { type: grpcStatus, message: undefined } : undefined
}
