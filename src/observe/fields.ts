import { hideCredentialParameters } from '#base/credential-names.ts'
import type { Reason } from '#base/rejections.ts'
import type { A2aFacts } from '#exchange/a2a-facts.ts'
import { A2A_METHODS } from '#exchange/a2a-methods.ts'
import { bindOf } from '#exchange/bind-of.ts'
import type { Attempt, GuardCheck } from '#exchange/exchange.ts'
import { KNOWN_LLM_ERRORS } from '#exchange/known-llm-errors.ts'
import { type LlmFacts, type LlmRequest, msPerOutputToken } from '#exchange/llm-facts.ts'
import { type LlmCost, NANODOLLARS } from '#exchange/llm-prices.ts'
import type { McpFacts } from '#exchange/mcp-facts.ts'
import { readGrpcStatus } from '#exchange/read-grpc-status.ts'
import type { RequestSpan } from '#exchange/request-span.ts'
import { spiffeIdOf } from '#exchange/spiffe-id.ts'
import { withoutPort } from '#net/http/field-syntax.ts'
import type { Peer } from '#net/peer.ts'
import { cutName } from './cut-name.ts'
import { type DecisionRecord, digestOfSession } from './decision-ring.ts'
import type { Ended } from './ended.ts'
import { isUnknownItem, MCP_METHODS, METHODS } from './metrics/known-values.ts'

// All fields of requests and connections: only this file defines their names and values. Fields are in the order of the log line.

/** One field. */
export interface Field<S, N extends string = string> {
  /** Key in the access log. */
  readonly name: N
  /** Undefined and empty text: unknown. */
  read(subject: S): string | number | undefined
  /** Unit of a number. Text lines show it; in JSON it is a plain number. */
  readonly unit?: 'ms'
  /** In OTLP its parts between commas are a list. */
  readonly list?: true
  /** All its texts are ours or of a fixed syntax, without characters that a log line escapes, and without secrets. */
  readonly plain?: true
  /** Most requests of a gateway have the same value as the one before; values are not parts of received heads, which would stay in memory. */
  readonly repeats?: true
  /** Default value, which the log omits. */
  readonly usual?: string | number
  /** False: not in the access log. */
  readonly logged?: false
  /** Label in metrics. */
  readonly label?: string
  /** The only values of the label besides `other`. Without it, values invented by clients could exhaust the limit of series. */
  readonly labelValues?: ReadonlySet<string>
  /** Clients or backends choose the value of the label (decision A-113). */
  readonly chosenByPeers?: true
  /** Member of the decision record with the same value. The record is filled by separate code, which is fastest. */
  readonly record?: keyof DecisionRecord
}

/** Fields with a common subject, which is looked up once; without it all of them are unknown. */
export interface Group<E, S extends object = object, N extends string = string> {
  of(event: E): S | undefined
  readonly fields: readonly Field<S, N>[]
  /** The same subject always has the same values. */
  readonly constant?: true
}

/** A message or connection that ended before it became a request. */
export interface Unread extends Outcome {
  readonly peer: Peer
  readonly place: Place
  /** 0: no response was sent. */
  readonly status: number
  /** Number of earlier messages without a line. */
  readonly untold: number
}

/** A connection that was closed before there was a request. */
export interface Denied extends Pick<Outcome, 'error' | 'reason'> {
  readonly peer: Peer
}

/** Names from the configuration; empty: not reached. */
interface Place {
  readonly gateway: string
  readonly listener: string
  readonly route?: string
  readonly rule?: string
  readonly backend?: string
}

/** The outcome. */
interface Outcome {
  readonly error: string | undefined
  readonly reason: Reason
  readonly code: string | undefined
  readonly decisionId: string
}

const PLACE = fields<Place>()([
  { name: 'gateway', record: 'gateway', label: 'gateway', read: ({ gateway }) => gateway },
  { name: 'listener', record: 'listener', label: 'listener', read: ({ listener }) => listener },
  { name: 'route_rule', record: 'rule', label: 'route_rule', read: ({ rule }) => rule },
  { name: 'route', record: 'route', label: 'route', read: ({ route }) => route },
  { name: 'backend', record: 'backend', label: 'backend', logged: false, read: ({ backend }) => backend },
])

const ENDPOINT = fields<Ended>()([
  { name: 'endpoint', record: 'endpoint', repeats: true, read: ({ request }) => request.endpointLabel },
  // A single provider has no name of its own.
  { name: 'section', record: 'section', usual: 'backend', read: ({ request }) => request.endpointSection },
])

/** Where the connection was accepted. */
const BIND = fields<Peer>()([{ name: 'bind', label: 'bind', logged: false, read: bindOf }])

const SOURCE = fields<Peer>()([
  {
    name: 'src.addr',
    record: 'client',
    read: ({ remoteAddress, remotePort }) => `${remoteAddress}:${remotePort}`,
  },
])
const DESTINATION = fields<Peer>()([
  { name: 'dst.addr', read: ({ localAddress, localPort }) => `${localAddress}:${localPort}` },
])
const IDENTITY = fields<Peer>()([{ name: 'src.identity', read: ({ certificate }) => spiffeIdOf(certificate) }])

const CONNECTION = fields<Peer>()([{ name: 'tls.sni', read: ({ serverName }) => serverName }])

const HTTP = fields<Ended>()([
  {
    name: 'http.method',
    record: 'method',
    label: 'method',
    labelValues: METHODS,
    plain: true,
    repeats: true,
    read: ({ exchange }) => exchange.originalMethod,
  },
  { name: 'http.host', repeats: true, read: ({ exchange }) => withoutPort(exchange.originalAuthority) },
  { name: 'http.path', read: ({ exchange }) => exchange.loggedTarget },
  {
    name: 'http.version',
    plain: true,
    repeats: true,
    read: ({ exchange: { version } }) => (version === '2' ? 'HTTP/2' : version === '1.1' ? 'HTTP/1.1' : 'HTTP/1.0'),
  },
])
/** 0: no response was sent. */
const STATUS = fields<{ readonly status: number }>()([
  { name: 'http.status', record: 'status', label: 'status', repeats: true, usual: 0, read: ({ status }) => status },
])
const GRPC = fields<Ended>()([{ name: 'grpc.status', read: ({ exchange }) => readGrpcStatus(exchange) }])

const TRACE = fields<RequestSpan>()([
  { name: 'trace.id', record: 'traceId', read: ({ traceId }) => traceId },
  { name: 'span.id', read: ({ spanId }) => spanId },
])

/** A subject is unique only within its issuer. */
const TOKEN = fields<{ readonly claims: { readonly iss?: unknown; readonly sub?: unknown } }>()([
  { name: 'jwt.iss', read: ({ claims: { iss } }) => (typeof iss === 'string' ? iss : undefined) },
  { name: 'jwt.sub', read: ({ claims: { sub } }) => (typeof sub === 'string' ? sub : undefined) },
])

const PROTOCOL = fields<Ended>()([
  { name: 'protocol', label: 'protocol', plain: true, repeats: true, read: ({ exchange }) => exchange.names?.protocol },
])

const A2A = fields<A2aFacts>()([
  { name: 'a2a.method', label: 'method', labelValues: new Set(A2A_METHODS), read: ({ method }) => method },
  { name: 'a2a.response.outcome', label: 'outcome', read: ({ outcome }) => outcome },
  { name: 'a2a.response.error_code', read: ({ errorCode }) => errorCode },
  { name: 'a2a.result.kind', read: ({ resultKind }) => resultKind },
  { name: 'a2a.task.state', label: 'task_state', read: ({ taskState }) => taskState },
  { name: 'a2a.task.id', read: ({ taskId }) => taskId },
  { name: 'a2a.context.id', read: ({ contextId }) => contextId },
])

const MCP = fields<McpFacts>()([
  {
    name: 'mcp.method.name',
    label: 'method',
    labelValues: MCP_METHODS,
    read: ({ method }) => method && cutName(method),
  },
  { name: 'mcp.target', label: 'server', read: ({ target }) => target },
  { name: 'mcp.resource.type', label: 'resource_type', read: ({ resourceType }) => resourceType },
  {
    name: 'mcp.resource.name',
    label: 'resource',
    chosenByPeers: true,
    logged: false,
    // Each task has another name.
    read: ({ name, errorCode, resourceType }) =>
      resourceType === 'task' || isUnknownItem(errorCode) ? undefined : name,
  },
  { name: 'gen_ai.tool.name', read: (mcp) => (mcp.resourceType === 'tool' ? itemName(mcp) : undefined) },
  { name: 'gen_ai.prompt.name', read: (mcp) => (mcp.resourceType === 'prompt' ? itemName(mcp) : undefined) },
  {
    name: 'mcp.resource.uri',
    read: (mcp) => (mcp.resourceType === 'resource' ? itemName(mcp) : undefined),
  },
  { name: 'mcp.session.id', read: digestOfSession },
  { name: 'mcp.error.code', read: ({ errorCode }) => errorCode },
  { name: 'mcp.error.message', read: ({ errorMessage }) => errorMessage },
])

/** Names of the OpenTelemetry conventions for generative AI. */
const LLM = fields<LlmFacts>()([
  { name: 'gen_ai.operation.name', label: 'gen_ai_operation_name', read: ({ operation }) => operation },
  { name: 'gen_ai.provider.name', record: 'provider', label: 'gen_ai_system', read: ({ provider }) => provider },
  {
    name: 'gen_ai.request.model',
    record: 'requestModel',
    // The value in metrics is that of `LlmPlace.modelLabel`.
    label: 'gen_ai_request_model',
    chosenByPeers: true,
    read: ({ requestModel }) => requestModel && cutName(requestModel),
  },
  {
    name: 'gen_ai.response.model',
    record: 'responseModel',
    label: 'gen_ai_response_model',
    chosenByPeers: true,
    read: ({ responseModel }) => responseModel && cutName(responseModel),
  },
  { name: 'gatewright.ai.translation.from', read: ({ translation }) => translation?.from },
  { name: 'gatewright.ai.translation.to', read: ({ translation }) => translation?.to },
  { name: 'gen_ai.response.id', read: ({ responseId }) => responseId },
  { name: 'gen_ai.response.finish_reasons', list: true, read: ({ finishReasons }) => finishReasons.join(',') },
  { name: 'server.address', read: ({ serverAddress }) => serverAddress },
  { name: 'gen_ai.usage.input_tokens', record: 'inputTokens', read: (llm) => llm.inputTokens },
  { name: 'gen_ai.usage.output_tokens', record: 'outputTokens', read: (llm) => llm.outputTokens },
  { name: 'gen_ai.usage.cache_read.input_tokens', read: (llm) => llm.cachedInputTokens },
  { name: 'gen_ai.usage.cache_creation.input_tokens', read: (llm) => llm.cacheCreationInputTokens },
  { name: 'gen_ai.usage.reasoning_tokens', read: (llm) => llm.reasoningTokens },
  { name: 'gen_ai.usage.output_image_tokens', read: (llm) => llm.outputImageTokens },
  { name: 'gen_ai.usage.input_audio_tokens', read: (llm) => llm.inputAudioTokens },
  { name: 'gen_ai.usage.output_audio_tokens', read: (llm) => llm.outputAudioTokens },
  {
    name: 'error.type',
    record: 'errorType',
    label: 'error_type',
    labelValues: KNOWN_LLM_ERRORS,
    read: ({ errorType }) => errorType,
  },
  { name: 'websocket.close_code', read: ({ closeCode }) => closeCode },
  {
    name: 'gatewright.ai.usage.estimated',
    read: ({ areTokensEstimated }) => (areTokensEstimated ? 'true' : undefined),
  },
  { name: 'gatewright.ai.count.tokens', read: (llm) => llm.countTokens },
  { name: 'gatewright.ai.count.vocabulary', read: (llm) => llm.countVocabulary },
])
const LLM_REQUEST = fields<LlmRequest>()([
  { name: 'gen_ai.output.type', read: ({ outputType }) => outputType },
  { name: 'gen_ai.request.temperature', read: (request) => request.number('temperature') },
  { name: 'gen_ai.request.top_p', read: (request) => request.number('top_p') },
  { name: 'gen_ai.request.max_tokens', read: (request) => request.number('max_tokens') },
  { name: 'gen_ai.request.frequency_penalty', read: (request) => request.number('frequency_penalty') },
  { name: 'gen_ai.request.presence_penalty', read: (request) => request.number('presence_penalty') },
  { name: 'gen_ai.request.seed', read: (request) => request.number('seed') },
  { name: 'gen_ai.request.encoding_formats', read: (request) => request.text('encoding_format') },
  { name: 'gen_ai.embeddings.dimension.count', read: (request) => request.number('dimensions') },
])
/** In dollars. */
const LLM_COST = fields<LlmCost>()([
  { name: 'gatewright.ai.usage.cost.input', read: ({ input }) => dollars(input) },
  { name: 'gatewright.ai.usage.cost.output', read: ({ output }) => dollars(output) },
  { name: 'gatewright.ai.usage.cost.cache_read', read: ({ cacheRead }) => dollars(cacheRead) },
  { name: 'gatewright.ai.usage.cost.cache_write', read: ({ cacheWrite }) => dollars(cacheWrite) },
  { name: 'gatewright.ai.usage.cost.total', read: ({ total }) => dollars(total) },
])
const LLM_TIMES = fields<Ended>()([
  { name: 'gatewright.ai.time_to_first_token', read: ({ exchange }) => seconds(exchange.llm?.timeToFirstTokenMs) },
  { name: 'gatewright.ai.time_per_output_token', read: (ended) => seconds(msPerToken(ended)) },
])

const RETRIES = fields<Ended>()([{ name: 'retry.attempt', usual: 0, read: ({ exchange }) => exchange.retries }])
const ATTEMPTS = fields<readonly Attempt[]>()([
  { name: 'retry.replayed', read: (all) => [...new Set(all.flatMap(({ replayed }) => replayed ?? []))].join(',') },
  {
    name: 'retry.maybe_processed',
    // The last attempt was not resent.
    read: (all) => (all.slice(0, -1).some(({ maybeProcessed }) => maybeProcessed) ? 'true' : undefined),
  },
  { name: 'upstream.failure', read: (all) => all.at(-1)?.failure },
])

const MASKS = fields<readonly GuardCheck[]>()([{ name: 'guardrail.masked', read: describeMasks }])

/** The check of a prompt guard that ended the request. */
const GUARD = fields<GuardCheck>()([
  { name: 'guardrail.phase', read: ({ phase }) => phase },
  { name: 'guardrail.kind', read: ({ kind }) => kind },
  { name: 'guardrail.index', read: ({ index }) => index },
])

const CAUSE = fields<Pick<Outcome, 'error' | 'reason'>>()([
  { name: 'error', read: ({ error }) => (error === undefined ? undefined : hideCredentialParameters(error)) },
  { name: 'reason', record: 'reason', label: 'reason', plain: true, usual: 'Upstream', read: ({ reason }) => reason },
])
const DECISION = fields<Outcome>()([
  { name: 'code', record: 'code', read: ({ code }) => code },
  { name: 'decision', record: 'id', read: (outcome) => (outcome.code === undefined ? undefined : outcome.decisionId) },
])
const UNTOLD = fields<Unread>()([{ name: 'untold', usual: 0, read: ({ untold }) => untold }])

const DURATION = fields<Ended>()([
  { name: 'duration', unit: 'ms', read: ({ durationMs }) => Math.round(durationMs * 1000) / 1000 },
])

/** What is known about a call of a model, also before the request has ended. */
export const LLM_CALL = [
  group(({ exchange }: Pick<Ended, 'exchange'>) => exchange.llm, LLM),
  group(({ exchange }: Pick<Ended, 'exchange'>) => exchange.llm?.request, LLM_REQUEST),
] as const

/** The line of a request or a relayed connection (docs/behaviour/observability.md, "Access log"); labels of metrics are among its fields. */
export const ENDED = [
  group(({ exchange }: Ended) => exchange.names, PLACE, { constant: true }),
  group(self, ENDPOINT),
  group(({ exchange }: Ended) => exchange.peer, [...BIND, ...SOURCE, ...IDENTITY], { constant: true }),
  group((ended: Ended) => (isRequest(ended) ? undefined : ended.exchange.peer), CONNECTION),
  group((ended: Ended) => (isRequest(ended) ? ended : undefined), [...HTTP, ...STATUS]),
  // HTTP/1 does not support gRPC.
  group((ended: Ended) => (ended.exchange.version === '2' ? ended : undefined), GRPC),
  group(({ exchange }: Ended) => exchange.span, TRACE),
  group(({ exchange }: Ended) => exchange.identity.jwt, TOKEN, { constant: true }),
  group(self, PROTOCOL),
  group(({ exchange }: Ended) => exchange.a2a, A2A),
  group(({ exchange }: Ended) => exchange.mcp, MCP),
  ...LLM_CALL,
  group(costOf, LLM_COST),
  group((ended: Ended) => (ended.exchange.llm === undefined ? undefined : ended), LLM_TIMES),
  group(self, RETRIES),
  group(({ exchange }: Ended) => exchange.attempts, ATTEMPTS),
  group(({ exchange }: Ended) => exchange.guardChecks, MASKS),
  group(decidingCheck, GUARD),
  group(self, [...CAUSE, ...DECISION, ...DURATION]),
] as const

export type FieldName = (typeof ENDED)[number]['fields'][number]['name']

/** The line of a message that the HTTP parser refused, or of a broken connection. */
export const UNREAD = [
  group(({ place }: Unread) => place, PLACE),
  group(({ peer }: Unread) => peer, [...SOURCE, ...DESTINATION]),
  group((unread: Unread) => unread, [...STATUS, ...CAUSE, ...DECISION, ...UNTOLD]),
]

/** The line of a connection that network authorization closed, or that failed before it carried traffic. */
export const DENIED = [
  group(({ peer }: Denied) => peer, [...SOURCE, ...DESTINATION]),
  group((denied: Denied) => denied, CAUSE),
]

function fields<S>() {
  return <const N extends string>(list: readonly Field<S, N>[]) => list
}

function group<E, S extends object, N extends string>(
  of: (event: E) => S | undefined,
  list: readonly Field<NoInfer<S>, N>[],
  { constant }: { readonly constant?: true } = {},
): Group<E, S, N> {
  return constant === undefined ? { of, fields: list } : { of, fields: list, constant }
}

function self(ended: Ended): Ended {
  return ended
}

/** The guards that have masked something, each with its rules, or with its kind: `request[0] Email, response[1] webhook`. */
function describeMasks(checks: readonly GuardCheck[]): string | undefined {
  const masks = checks.filter(({ verdict }) => verdict === 'Mask')
  if (masks.length === 0) return undefined
  return [...new Set(masks.map(({ phase, index, kind, rule = kind }) => `${phase}[${index}] ${rule}`))].join(', ')
}

function decidingCheck({ exchange: { guardChecks, reason } }: Ended): GuardCheck | undefined {
  if (guardChecks === undefined || reason !== 'Guardrail') return undefined
  return guardChecks.findLast(({ verdict }) => verdict === 'Reject' || verdict === 'Fail')
}

/** A relayed connection has no request. */
function isRequest({ exchange }: Ended): boolean {
  return exchange.originalMethod !== ''
}

function costOf({ exchange: { llm, context } }: Ended): LlmCost | undefined {
  return llm && context.prices.costOf(llm, context.now())
}

function dollars(nanodollars: number | undefined): number | undefined {
  return nanodollars === undefined ? undefined : nanodollars / NANODOLLARS
}

/** The URI of a resource may have a query. */
function itemName({ name }: McpFacts): string | undefined {
  return name === undefined ? undefined : cutName(hideCredentialParameters(name))
}

function msPerToken({ exchange: { llm }, durationMs }: Ended): number | undefined {
  return llm && msPerOutputToken(llm, durationMs)
}

/** With microsecond precision. */
function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms * 1000) / 1_000_000
}
