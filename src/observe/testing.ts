import { clock } from '#base/clock.ts'
import { compileExpression } from '#exchange/compile-expression.ts'
import { type Callout, Exchange, NO_PLAN_NAMES, type PlanNames } from '#exchange/exchange.ts'
import type { Expression, ExpressionEnvironment } from '#exchange/expression.ts'
import { type LlmFacts, NO_LLM } from '#exchange/llm-facts.ts'
import { type McpFacts, NO_MCP } from '#exchange/mcp-facts.ts'
import type { OtlpTarget } from '#exchange/otlp-target.ts'
import { Head } from '#net/http/head.ts'
import { parseHeadText } from '#net/http1/parse-head-text.ts'
import type { Peer } from '#net/peer.ts'
import { type KeptDecision, NOTHING_RARE, type RareFacts } from './decision.ts'
import { mayCoverFields, removedFields } from './log/default-fields.ts'
import type { Observed, ObservedRelay, ObserveSettings } from './observer.ts'
import { NOTHING_PASSED } from './passage.ts'

/** Support for the tests of this room: completed requests and decisions. */

export const PEER: Peer = {
  remoteAddress: '192.0.2.7',
  remotePort: 40_000,
  rawAddress: '192.0.2.7',
  rawPort: 40_000,
  localAddress: '127.0.0.1',
  localPort: 8080,
  secure: false,
  serverName: undefined,
  certificate: undefined,
}

export const PLACE: PlanNames = {
  gateway: 'default/main',
  listener: 'http',
  route: 'default/r',
  routeKind: 'HTTPRoute',
  rule: 'first',
  backend: 'default/b',
  backendType: 'static',
  protocol: 'http',
}

export interface ObservedInputs extends Partial<Omit<Observed, 'exchange'>> {
  /** `GET /path` */
  readonly line?: string
  readonly host?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly place?: PlanNames | null
  readonly peer?: Peer
  readonly llm?: Partial<LlmFacts>
  readonly mcp?: Partial<McpFacts>
  readonly callouts?: Callout[]
  /** Facts that the proxy records in the exchange. */
  readonly noted?: Partial<
    Pick<
      Exchange,
      | 'reason'
      | 'refusal'
      | 'refusalDetail'
      | 'startMonotonicMs'
      | 'sentMonotonicMs'
      | 'answeredMonotonicMs'
      | 'respondedMonotonicMs'
      | 'attempts'
      | 'retries'
      | 'version'
      | 'a2a'
      | 'context'
      | 'guardChecks'
      | 'unsentDescriptors'
      | 'failedCosts'
      | 'calls'
      | 'span'
    >
  >
  readonly jwt?: Readonly<Record<string, string | number>>
}

/** A completed request; the backend responded with 200 unless the inputs set something else. */
export function observed(inputs: ObservedInputs = {}): Observed {
  const { line = 'GET /path', host = 'example.com', headers = {}, place = PLACE, jwt } = inputs
  const { status = 200, endpointLabel, endpointSection, settings, decisionNumber = 7 } = inputs
  const fields = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = parseHeadText(`${line} HTTP/1.1\r\n${fields.join('')}\r\n`)
  if (typeof head === 'number') throw new Error(`not a head: ${line}`)
  const exchange = new Exchange(head, inputs.peer ?? PEER)
  exchange.originalMethod = head.method
  exchange.originalAuthority = head.authority
  exchange.originalTarget = head.target
  exchange.startMonotonicMs = clock.monotonic()
  exchange.names = place ?? undefined
  exchange.llm = inputs.llm && { ...NO_LLM, provider: 'p', ...inputs.llm }
  exchange.callouts = inputs.callouts
  exchange.mcp = inputs.mcp && { ...NO_MCP, ...inputs.mcp }
  if (jwt !== undefined) exchange.identity.jwt = { claims: jwt, token: 't' }
  Object.assign(exchange, inputs.noted)
  return {
    exchange,
    status,
    endpointLabel,
    endpointSection,
    settings,
    decisionNumber,
    decisionId: `w1-${decisionNumber}`,
  }
}

/** A closed relayed connection to `db.example.com`. */
export function observedRelay(
  inputs: Partial<Omit<ObservedRelay, 'exchange'>> & Pick<ObservedInputs, 'noted'> = {},
): ObservedRelay {
  const { settings, endpointLabel, decisionNumber = 7, protocol = 'tls', receivedBytes = 0, sentBytes = 0 } = inputs
  const exchange = new Exchange(new Head(), { ...PEER, serverName: 'db.example.com' })
  exchange.startMonotonicMs = clock.monotonic()
  exchange.names = { ...PLACE, routeKind: 'TLSRoute', protocol: 'tcp' }
  Object.assign(exchange, inputs.noted)
  const decisionId = `w1-${decisionNumber}`
  return {
    exchange,
    status: 0,
    endpointLabel,
    endpointSection: undefined,
    settings,
    decisionNumber,
    decisionId,
    protocol,
    receivedBytes,
    sentBytes,
  }
}

export interface SettingTexts {
  readonly filter?: string
  readonly remove?: readonly string[]
  readonly add?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
  readonly otlp?: OtlpTarget
}

/** Settings as policies would compile them. */
export function settingsOf({ filter, remove = [], add = {}, labels = {}, otlp }: SettingTexts): ObserveSettings {
  return {
    accessLog: {
      filter: filter === undefined ? undefined : expressionOf(filter, 'log'),
      remove: removedFields(remove, Object.keys(add)),
      mayCover: mayCoverFields(Object.keys(add)),
      add: Object.entries(add).map(([name, text]) => ({ name, expression: expressionOf(text, 'log') })),
      otlp,
    },
    metricLabels: {
      names: Object.keys(labels),
      expressions: Object.values(labels).map((text) => expressionOf(text, 'metric')),
    },
    tracing: undefined,
  }
}

function expressionOf(text: string, place: ExpressionEnvironment): Expression {
  return compileExpression(text, place, ({ severity, message }) => {
    if (severity === 'error') throw new Error(message)
  })
}

/** Members of a decision, rare ones among the others. */
export type DecisionValues = Partial<Omit<KeptDecision, 'rare'> & RareFacts>

/** A decision to keep, empty but for `values`. */
export function keptDecision(values: DecisionValues = {}): KeptDecision {
  const given = Object.entries(values)
  const isRare = ([name]: readonly [string, unknown]) => name in NOTHING_RARE
  return {
    number: 0,
    timeMs: 0,
    method: '',
    authority: '',
    target: '',
    redactedParameters: [],
    clientAddress: '',
    clientPort: 0,
    names: NO_PLAN_NAMES,
    endpoint: '',
    section: '',
    consumer: '',
    status: 0,
    reason: '',
    startMonotonicMs: 0,
    passed: NOTHING_PASSED,
    durationMs: 0,
    sentMs: undefined,
    answeredMs: undefined,
    ...Object.fromEntries(given.filter((one) => !isRare(one))),
    rare: { ...NOTHING_RARE, ...Object.fromEntries(given.filter(isRare)) },
  }
}
