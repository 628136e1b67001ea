import type { ConfigProblem } from '#base/config-problem.ts'
import { parseDuration } from '#base/duration.ts'
import { describeOrigin } from '#base/origin.ts'
import type { Sealer } from '#base/sealer.ts'
import { type TlsMaterialCheck, UNCHECKED_MATERIAL } from '#base/tls-material.ts'
import type { ImportKey } from '#base/verifying-key.ts'
import { compileExpression } from '#exchange/compile-expression.ts'
import { Exchange } from '#exchange/exchange.ts'
import type { Expression, ExpressionEnvironment, ExpressionUse } from '#exchange/expression.ts'
import { wholeBody } from '#exchange/known-body.ts'
import type { Outcome } from '#exchange/outcome.ts'
import { NO_STEPS, type RunContext } from '#exchange/run-context.ts'
import { NO_COUNTER, type TokenCounter } from '#exchange/token-counter.ts'
import type { Head } from '#net/http/head.ts'
import { parseHeadText } from '#net/http1/parse-head-text.ts'
import type { Peer } from '#net/peer.ts'
import { type Parsed, type TSchema, validate } from '#schema/index.ts'
import { Circuit } from '#state/circuit.ts'
import { createSlotMemory, SlotDirectory } from '#state/slots.ts'
import { TokenBucket } from '#state/token-bucket.ts'
import { ValueBuckets } from '#state/value-buckets.ts'
import { ValueTable } from '#state/value-table.ts'
import type {
  CalledBackend,
  CallFault,
  CompileContext,
  PolicyDestination,
  PolicySource,
  RequestRun,
  SecretMaterial,
} from '../policy.ts'
import type { RemoteJwksSpec } from './authentication/jwks.ts'
import type { PasswordChecker } from './authentication/password-checker.ts'
import { type RemoteKeySet, RemoteKeySets } from './authentication/remote-key-set.ts'
import { CloudCredentials } from './clouds/cloud-credential.ts'
import type { CloudServices } from './clouds/cloud-services.ts'
import { VerdictCache } from './ext-auth/verdict-cache.ts'

/** Test support for policies: exchanges, sources, and a compile context without a plan. */

export type Fields = Readonly<Record<string, string | readonly string[]>>

export interface ExchangeInputs {
  readonly method?: string
  readonly target?: string
  readonly headers?: Fields
  readonly scheme?: 'http' | 'https'
  /** Of the listener; default 8080. */
  readonly localPort?: number
  /** Server name of the TLS handshake, with https; default example.com. */
  readonly serverName?: string
  readonly body?: string
  readonly matchedPrefix?: string
  /** Adds a response with this status. */
  readonly status?: number
  readonly responseHeaders?: Fields
}

const PEER: Peer = {
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

/** An exchange whose head was parsed from text, as in the proxy. The default `host` is example.com. */
export function exchangeWith(inputs: ExchangeInputs = {}): Exchange {
  const { method = 'GET', target = '/', scheme = 'http' } = inputs
  const head = received(`${method} ${target} HTTP/1.1`, { host: 'example.com', ...inputs.headers })
  const secure = scheme === 'https'
  const exchange = new Exchange(head, {
    ...PEER,
    secure,
    localPort: inputs.localPort ?? PEER.localPort,
    serverName: secure ? (inputs.serverName ?? 'example.com') : undefined,
  })
  exchange.context = runContext()
  exchange.scheme = scheme
  exchange.originalMethod = head.method
  exchange.originalAuthority = head.authority
  exchange.originalTarget = head.target
  if (inputs.matchedPrefix !== undefined) exchange.matchedPath = { type: 'PathPrefix', value: inputs.matchedPrefix }
  if (inputs.body !== undefined) exchange.requestBody = wholeBody(new TextEncoder().encode(inputs.body))
  if (inputs.status !== undefined) {
    exchange.response = received(`HTTP/1.1 ${inputs.status} Whatever`, inputs.responseHeaders ?? {})
  }
  return exchange
}

/** The current clock, a constant random source, a signal that never aborts, and calls that fail. */
export function runContext(more: Partial<RunContext> = {}): RunContext {
  return {
    ...NO_STEPS,
    random: () => 0,
    ...more,
  }
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

/** Applies the defaults of a schema to a spec; throws if the schema refuses it. */
export function specFrom<S extends TSchema>(schema: S, written: unknown): Parsed<S> {
  const { value, problems } = validate(schema, JSON.parse(JSON.stringify(written)))
  if (value === undefined) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join('; '))
  return value
}

/** The outcome of a step, as one word. */
export function codeOf(outcome: Outcome | Promise<Outcome>): string {
  if (outcome === undefined) return 'proceed'
  if (outcome instanceof Promise) return 'later'
  return outcome.kind === 'refusal' ? outcome.code : 'answer'
}

/** Sends requests to a policy that decides without waiting. */
export function sendTo({ request: step }: RequestRun): (request: ExchangeInputs) => {
  readonly exchange: Exchange
  readonly outcome: Outcome
} {
  return (request) => {
    const exchange = exchangeWith(request)
    return { exchange, outcome: step!(exchange) as Outcome }
  }
}

/** A source with `spec`, from ProxyPolicy `default/test`. */
export function sourceOf<Spec>(spec: Spec, more: Partial<PolicySource<Spec>> = {}): PolicySource<Spec> {
  return {
    spec,
    origin: { kind: 'ProxyPolicy', namespace: 'default', name: 'test' },
    path: 'spec.traffic.field',
    target: 'Gateway/default/main',
    ...more,
  }
}

/** Protects nothing: a text is the bytes themselves. */
export const PLAIN_SEALER: Sealer = {
  seal: (bytes) => new TextDecoder().decode(bytes),
  open: (text) => new TextEncoder().encode(text),
}

/** Digests are empty. */
export const NO_CLOUDS: CloudServices = {
  hashing: { sha256: () => '', hmacSha256: () => new Uint8Array(0) },
  region: undefined,
  credentials: new CloudCredentials(),
}

export interface ContextInputs {
  readonly guaranteed?: readonly string[]
  readonly secrets?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Files that entries of the secrets are from. */
  readonly entryFiles?: Readonly<Record<string, string>>
  /** Labels of the secrets. */
  readonly labels?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly configMaps?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly tlsMaterial?: TlsMaterialCheck
  /** Why backends cannot be called, by key. By default all can. */
  readonly callFaults?: Readonly<Record<string, CallFault>>
  /** Hosts of static backends, by key. */
  readonly staticHosts?: Readonly<Record<string, string>>
  /** By default every import fails. */
  readonly importKey?: ImportKey
  /** By default every password is wrong. */
  readonly passwords?: PasswordChecker
  /** By default nothing is counted. */
  readonly tokenCounter?: TokenCounter
  /** By default, texts are not protected. */
  readonly sealer?: Sealer
  /** The endpoint that policies are compiled for. */
  readonly destination?: PolicyDestination
  /** By default, digests are empty, and there is no region. */
  readonly clouds?: Partial<CloudServices>
}

/** A compile context that answers from the inputs and records reports. */
export class TestContext implements CompileContext {
  readonly problems: ConfigProblem[] = []
  readonly bucketKeys: string[] = []
  /** What servers that policies ask see of a request. */
  readonly readings: string[] = []
  /** Ids of key sets whose fetch was requested. */
  readonly requestedKeySets: string[] = []
  readonly keySets = new RemoteKeySets(
    (jwk) => this.importKey(jwk),
    (id) => this.requestedKeySets.push(id),
  )
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

  expression(
    source: PolicySource<unknown>,
    path: string,
    text: string,
    environment: ExpressionEnvironment,
    use?: ExpressionUse,
    present?: readonly string[],
  ): Expression {
    const where = `${source.path}${path} of ${describeOrigin(source.origin)}`
    return compileExpression(text, environment, (problem) => this.report(source, path, problem), {
      use,
      present,
      where,
    })
  }

  guaranteed(): readonly string[] {
    return this.#inputs.guaranteed ?? []
  }

  secret(_: PolicySource<unknown>, name: string): SecretMaterial | undefined {
    const data = this.#inputs.secrets?.[name]
    const { entryFiles } = this.#inputs
    const origin = { kind: 'Secret', namespace: '', name, ...(entryFiles !== undefined && { entryFiles }) }
    return data === undefined ? undefined : { name, data, origin }
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
    return data === undefined ? undefined : { name, data, origin: { kind: 'ConfigMap', namespace: '', name } }
  }

  get destination(): PolicyDestination | undefined {
    return this.#inputs.destination
  }

  get clouds(): CloudServices {
    return { ...NO_CLOUDS, ...this.#inputs.clouds }
  }

  get importKey(): ImportKey {
    return this.#inputs.importKey ?? (() => undefined)
  }

  get passwords(): PasswordChecker {
    return this.#inputs.passwords ?? { check: () => 'wrong' }
  }

  get tokenCounter(): TokenCounter {
    return this.#inputs.tokenCounter ?? NO_COUNTER
  }

  get sealer(): Sealer {
    return this.#inputs.sealer ?? PLAIN_SEALER
  }

  get tlsMaterial(): TlsMaterialCheck {
    return this.#inputs.tlsMaterial ?? UNCHECKED_MATERIAL
  }

  ownBackend({ origin, path: field }: PolicySource<unknown>, path: string): string {
    return `ProxyBackend/${origin.namespace}/${origin.kind}:${origin.name}:${field}${path}`
  }

  calledBackend({ origin }: PolicySource<unknown>, { kind, name, namespace, port }: CalledBackend): string | undefined {
    const key = `${kind}/${namespace ?? origin.namespace}/${name}`
    return kind === 'Service' ? `${key}/${port}` : key
  }

  callFault(backend: string): CallFault | undefined {
    return this.#inputs.callFaults?.[backend]
  }

  staticHost(backend: string): string | undefined {
    return this.#inputs.staticHosts?.[backend]
  }

  verdictCache(_: PolicySource<unknown>, __: string, ___: string, maxEntries: number): VerdictCache {
    return new VerdictCache(maxEntries)
  }

  circuit({ path }: PolicySource<unknown>, of: string): Circuit {
    return new Circuit(this.#memory, this.#slots.assign(`circuit ${path}${of}`)!)
  }

  reads(_: PolicySource<unknown>, path: string, what: { readonly path: boolean; readonly allFields: boolean }): void {
    this.readings.push(`${path || 'all'}: ${what.path ? 'path' : ''}${what.allFields ? ' fields' : ''}`)
  }

  /** A remote key set for any backend; nothing is fetched until the test calls `update`. */
  remoteKeySet(_: PolicySource<unknown>, { jwksPath, backendRef, cacheDuration }: RemoteJwksSpec): RemoteKeySet {
    return this.keySets.at({
      backend: `Service/default/${backendRef.name}`,
      path: jwksPath,
      cacheMs: parseDuration(cacheDuration)!,
    })
  }

  tokenBucket(key: string, settings: TokenBucket['settings']): TokenBucket {
    this.bucketKeys.push(key)
    return new TokenBucket(this.#memory, this.#slots.assign(key)!, settings)
  }

  valueBuckets(key: string, settings: TokenBucket['settings']): ValueBuckets {
    const shared = this.tokenBucket(key, settings)
    return new ValueBuckets(new ValueTable(this.#slots.valuesOf(key)!), shared)
  }
}

export function contextWith(inputs: ContextInputs = {}): TestContext {
  return new TestContext(inputs)
}
