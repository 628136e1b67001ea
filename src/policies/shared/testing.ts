import { fromByteText, toByteText } from '#base/byte-text.ts'
import type { ConfigProblem } from '#base/config-problem.ts'
import { Exchange, type Json } from '#exchange/exchange.ts'
import type { Expression } from '#exchange/expression.ts'
import type { Outcome } from '#exchange/outcome.ts'
import type { Head } from '#net/http1/head.ts'
import { parseHeadText } from '#net/http1/parse-head-text.ts'
import type { Peer } from '#net/stream.ts'
import { type Parsed, type TSchema, validate } from '#schema/index.ts'
import { createSlotMemory, SlotDirectory } from '#state/slots.ts'
import { TokenBucket } from '#state/token-bucket.ts'
import type { CompileContext, PolicySource, SecretMaterial } from '../policy.ts'

/** Support for the tests of this room: exchanges, sources and a compile context without a plan behind it. */

export type Fields = Readonly<Record<string, string | readonly string[]>>

export interface ExchangeInputs {
  readonly method?: string
  readonly target?: string
  readonly headers?: Fields
  readonly scheme?: 'http' | 'https'
  readonly body?: string
  readonly matchedPrefix?: string
  /** Adds a response with this status. */
  readonly status?: number
  readonly responseHeaders?: Fields
}

const PEER: Peer = {
  remoteAddress: '192.0.2.7',
  remotePort: 40_000,
  localAddress: '127.0.0.1',
  localPort: 8080,
  secure: false,
  serverName: undefined,
}

/** An exchange as the wire would deliver it: its head was parsed from text. `host` is example.com unless given. */
export function exchangeWith(inputs: ExchangeInputs = {}): Exchange {
  const { method = 'GET', target = '/', scheme = 'http' } = inputs
  const head = received(`${method} ${target} HTTP/1.1`, { host: 'example.com', ...inputs.headers })
  const exchange = new Exchange()
  exchange.reset(head, { ...PEER, secure: scheme === 'https' })
  exchange.scheme = scheme
  exchange.originalMethod = head.method
  exchange.originalAuthority = head.authority
  exchange.originalTarget = head.target
  exchange.matchedPrefix = inputs.matchedPrefix
  if (inputs.body !== undefined) exchange.requestBody = new TextEncoder().encode(inputs.body)
  if (inputs.status !== undefined) {
    exchange.response = received(`HTTP/1.1 ${inputs.status} Whatever`, inputs.responseHeaders ?? {})
  }
  return exchange
}

function received(startLine: string, fields: Fields): Head {
  const lines = Object.entries(fields).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}\r\n`))
  const head = parseHeadText(`${startLine}\r\n${lines.join('')}\r\n`)
  if (typeof head === 'number') throw new Error(`not a head: ${startLine}`)
  return head
}

/** The fields of a head, as `name: value` lines in order, without `host`. */
export function linesOf(head: Head): string[] {
  const lines: string[] = []
  head.each((name, value) => {
    if (name !== 'host') lines.push(`${name}: ${value}`)
  })
  return lines
}

/** A spec as somebody would write it, with the defaults of its schema; throws when the schema refuses it. */
export function specFrom<S extends TSchema>(schema: S, written: unknown): Parsed<S> {
  const { value, problems } = validate(schema, JSON.parse(JSON.stringify(written)))
  if (value === undefined) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join('; '))
  return value
}

/** How a step ended, in one word. */
export function codeOf(outcome: Outcome | Promise<Outcome>): string {
  if (outcome === undefined) return 'proceed'
  if (outcome instanceof Promise) return 'later'
  return outcome.kind === 'refusal' ? outcome.code : 'answer'
}

/** A source that says `spec` on a ProxyPolicy `default/test`. */
export function sourceOf<Spec>(spec: Spec, more: Partial<PolicySource<Spec>> = {}): PolicySource<Spec> {
  return {
    spec,
    origin: { kind: 'ProxyPolicy', namespace: 'default', name: 'test' },
    path: 'spec.traffic.field',
    target: 'Gateway/default/main',
    ...more,
  }
}

export interface ContextInputs {
  readonly secrets?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Labels of those secrets. */
  readonly labels?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly configMaps?: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** A compile context that answers from the inputs and keeps what was reported. */
export class TestContext implements CompileContext {
  readonly problems: ConfigProblem[] = []
  readonly bucketKeys: string[] = []
  readonly #inputs: ContextInputs
  readonly #memory = createSlotMemory(64)
  readonly #slots = new SlotDirectory(this.#memory)

  constructor(inputs: ContextInputs) {
    this.#inputs = inputs
  }

  /** `code path`, for each problem. */
  get reports(): string[] {
    return this.problems.map(({ code, path }) => `${code} ${path}`)
  }

  report(source: PolicySource<unknown>, path: string, problem: Omit<ConfigProblem, 'path'>): void {
    this.problems.push({ ...problem, path: `${source.path}${path}` })
  }

  expression(source: PolicySource<unknown>, path: string, text: string): Expression {
    return standIn(text, (message) => this.report(source, path, { severity: 'error', code: 'invalid-cel', message }))
  }

  secret(_: PolicySource<unknown>, name: string): SecretMaterial | undefined {
    const data = this.#inputs.secrets?.[name]
    return data === undefined ? undefined : { name, data }
  }

  secretsWithLabels(
    source: PolicySource<unknown>,
    labels: Readonly<Record<string, string>>,
  ): readonly SecretMaterial[] {
    return Object.keys(this.#inputs.secrets ?? {})
      .sort()
      .filter((name) => Object.entries(labels).every(([key, value]) => this.#inputs.labels?.[name]?.[key] === value))
      .map((name) => this.secret(source, name)!)
  }

  configMap(_: PolicySource<unknown>, name: string): SecretMaterial | undefined {
    const data = this.#inputs.configMaps?.[name]
    return data === undefined ? undefined : { name, data }
  }

  tokenBucket(key: string, settings: TokenBucket['settings']): TokenBucket {
    this.bucketKeys.push(key)
    return new TokenBucket(this.#memory, this.#slots.assign(key)!, settings)
  }
}

export function contextWith(inputs: ContextInputs = {}): TestContext {
  return new TestContext(inputs)
}

type Evaluate = (exchange: Exchange) => unknown

/** Knows the few forms of expression that the tests of this room use. */
function standIn(text: string, fail: (message: string) => void): Expression {
  const evaluate = constant(text) ?? literal(text) ?? header(text) ?? variable(text) ?? equality(text)
  if (evaluate === undefined) fail('stand-in does not know it')
  const value = (exchange: Exchange) => evaluate?.(exchange) as Json | undefined
  return {
    source: text,
    references: new Set(text.match(/(request|response|metadata|apiKey|jwt)(\.[a-zA-Z]+)+/g) ?? []),
    broken: evaluate === undefined,
    isTrue: (exchange) => value(exchange) === true,
    text: (exchange) => {
      const result = value(exchange)
      return typeof result === 'string' ? result : undefined
    },
    json: value,
    body: (exchange) => {
      const result = value(exchange)
      if (result === undefined) return undefined
      const isText = typeof result === 'string'
      const bytes = new TextEncoder().encode(isText ? result : JSON.stringify(result))
      return { bytes, kind: isText ? 'text' : 'json' }
    },
  }
}

function constant(text: string): Evaluate | undefined {
  return /^(?:true|false|\d+)$/.test(text) ? () => JSON.parse(text) : undefined
}

function equality(text: string): Evaluate | undefined {
  const [left, right] = text.split(' == ').map((side) => literal(side) ?? header(side))
  if (left === undefined || right === undefined) return undefined
  return (exchange) => {
    const value = left(exchange)
    return value === undefined ? undefined : value === right(exchange)
  }
}

/** The paths that the tests read. */
function variable(text: string): Evaluate | undefined {
  if (text === 'request.method') return ({ request }) => request.method
  if (text === 'request.path') return ({ request }) => request.target
  if (text === 'request.body') return ({ requestBody }) => requestBody && new TextDecoder().decode(requestBody)
  if (text === 'response.body') return ({ responseBody }) => responseBody && new TextDecoder().decode(responseBody)
  const key = /^metadata\.(\w+)$/.exec(text)?.[1]
  return key === undefined ? undefined : ({ metadata }) => metadata?.[key]
}

function literal(text: string): Evaluate | undefined {
  const match = /^"([^"]*)"$/.exec(text)
  return match === null ? undefined : () => match[1]
}

function header(text: string): Evaluate | undefined {
  const match = /^(request|response)\.headers\["([^"]*)"\]$/.exec(text)
  if (match === null) return undefined
  return (exchange) => {
    const found = exchange[match[1] as 'request' | 'response']?.get(match[2]!)
    return found === undefined ? undefined : fromByteText(toByteText(found))
  }
}
