import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { clock } from '#base/clock.ts'
import { isCredentialField } from '#base/credential-names.ts'
import type { Finding } from '#base/finding.ts'
import { KnownSecrets } from '#base/known-secrets.ts'
import { secretsOfObject } from '#control/secret-values.ts'
import { explainRequest } from '#engine/explain/explain.ts'
import { explainRelay } from '#engine/explain/explain-relay.ts'
import { LivePlan } from '#engine/plan/live-plan.ts'
import type { LiveSocket } from '#engine/route/live-listener.ts'
import type { RequestBodyAccess } from '#exchange/bodies.ts'
import { Exchange } from '#exchange/exchange.ts'
import { LARGE_BODY, largeBody, wholeBody } from '#exchange/known-body.ts'
import { NO_BODIES } from '#exchange/no-bodies.ts'
import { reject } from '#exchange/outcome.ts'
import { refuseLargeBody } from '#exchange/refuse-large-body.ts'
import { gatewayAddresses } from '#instance/address-pool.ts'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import { collectBody } from '#net/body/collect-body.ts'
import { FixedBody } from '#net/body/fixed-body.ts'
import type { Head } from '#net/http/head.ts'
import { refusalOf } from '#net/http/head-outcome.ts'
import { isGrpcRequest } from '#net/http/request-rules.ts'
import { parseHeadText } from '#net/http1/parse-head-text.ts'
import type { BodySource } from '#net/stream.ts'
import { wholePlan } from '#plan/delta.ts'
import { contentOf, decodeRequestBody } from '#proxy/decode-request-body.ts'
import type { CheckedObjects } from '#store/store.ts'
import { oneOf } from '../environment.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { countProblems, findingLines } from '../finding-lines.ts'
import { type ForwardFlags, forwardNetworks } from '../forward-networks.ts'
import { type ListenFlags, listenAddresses } from '../listen-addresses.ts'
import { loadPlan } from '../load-plan.ts'
import type { PathFlags } from '../object-paths.ts'
import { type ApiFlags, readObjects } from '../object-source.ts'
import { operatorSockets } from '../operator-addresses.ts'
import { complain, printJson, printText } from '../output.ts'
import { sessionKeys } from '../session-keys.ts'
import { UsageError } from '../usage-error.ts'
import { describeConnection } from './describe-connection.ts'
import { describeRefusal, describeRequest } from './describe-request.ts'
import type { DescribedExplanation } from './described-explanation.ts'
import { PlanCalls } from './explain-calls.ts'
import { formatExplanation } from './format-explanation.ts'
import { hideTexts } from './hide-texts.ts'
import { styleLine } from './style-line.ts'

export interface ExplainFlags extends ApiFlags, ForwardFlags, ListenFlags, PathFlags {
  readonly header?: readonly string[]
  readonly data?: string
  /** Shows credentials in clear text. */
  readonly showSecrets?: boolean
  /** Asks the servers that policies ask. */
  readonly call?: boolean
  readonly output?: string
}

/** Forms of the output. */
const FORMATS = ['text', 'json'] as const

/** Outcomes that make the exit code 1. */
const REFUSED: readonly DescribedExplanation['outcome']['kind'][] = ['unreachable', 'refused', 'closed']

/** Shows how a gateway with these objects would handle one request or connection. Opens no socket, except for `--call`, and to an API with the objects. */
export async function explain(request: readonly string[], flags: ExplainFlags): Promise<ExitCode> {
  const format = oneOf(FORMATS, ['--output', flags.output]) ?? 'text'
  const read = readRequest(request, flags.data)
  listenAddresses(flags)
  const { store } = await readObjects('explain', [], flags)
  const found = await explainWith(store, read, flags)
  const secrets = flags.showSecrets ? undefined : new KnownSecrets(store.list().flatMap(secretsOfObject))
  const shown = secrets === undefined ? found : hideTexts(found, (text) => secrets.hide(text))
  if (format === 'json') printJson(shown)
  else printText(formatExplanation(shown), styleLine)
  return REFUSED.includes(shown.outcome.kind) ? EXIT.findings : EXIT.ok
}

async function explainWith(
  store: CheckedObjects,
  { method, url, text }: ReadRequest,
  flags: ExplainFlags,
): Promise<DescribedExplanation> {
  const { items, findings, state } = loadPlan(store, {
    addresses: gatewayAddresses(listenAddresses(flags)),
    sessionKeys: sessionKeys(process.env),
    forwardTo: forwardNetworks(flags),
    allowsExternalNames: flags.allowExternalName ?? false,
    servers: operatorSockets(process.env, flags.bind),
    // `plan` exists when a request is explained.
    listening: () => plan.sockets.values(),
    ...(flags.call === true && { fetchKeySet: (id, keySets) => void calls.fetchKeySet(id, keySets) }),
  })
  warnOfProblems(store, findings)
  const plan = new LivePlan(state)
  using calls = new PlanCalls(plan, state)
  plan.update(wholePlan(items))
  const title = isConnection(url)
    ? { kind: 'connection' as const, url: text }
    : { kind: 'request' as const, method, url: text }
  const port = portOf(url)
  const places = [...plan.sockets.values()].filter((place) => place.port === port)
  const socket = places.find((place) => place.address === url.hostname.replace(/^\[|\]$/g, '')) ?? places[0]
  if (socket === undefined) {
    const sockets = [...plan.sockets.keys()].join(', ')
    const listening = sockets === '' ? 'there are no listeners' : `listeners: ${sockets}`
    return { ...title, outcome: { kind: 'unreachable', message: `no Gateway listens on port ${port}; ${listening}` } }
  }
  const misfit = misfitOf(url, socket)
  if (misfit !== undefined) return { ...title, outcome: { kind: 'unreachable', message: misfit } }
  const serverName = serverNameOf(url)
  const listener = socket.serverNames.first(serverName, (place) => place)
  if (listener?.carries === 'bytes') {
    const explanation = explainRelay(plan.index, listener, serverName)
    return describeConnection({ url: text, serverName, explanation, store })
  }
  if (isConnection(url)) {
    const served = listener === undefined ? '' : `; listener ${listener.item.name} serves HTTP requests`
    const message = `no listener on port ${port} accepts this connection${served}`
    return { ...title, outcome: { kind: 'unreachable', message } }
  }
  const body = flags.data === undefined ? undefined : readBody(flags.data)
  const head = buildHead(`${method} ${targetIn(text)}`, url, flags.header ?? [], body)
  if (typeof head === 'number') return { ...title, outcome: describeRefusal(reject(refusalOf(head))) }
  const credentials = new KnownSecrets(credentialsOf(head))
  const explanation = await explainRequest(
    { nowMs: clock.now(), plan, socket, ...(flags.call === true && { calls }) },
    buildExchange(head, body, url, socket),
  )
  return describeRequest({
    ...{ method, url: text, explanation, store },
    showsSecrets: flags.showSecrets === true,
    hideValues: (value) => credentials.hideValues(value),
  })
}

/** A connection that ends before its first request, because only one side uses TLS. */
function misfitOf(url: URL, { listeners, port }: LiveSocket): string | undefined {
  const names = listeners.map(({ item }) => item.name).join(', ')
  const secured = isConnection(url) ? 'tls' : 'https'
  if (listeners.some(({ item }) => item.tlsMode !== undefined)) {
    if (isSecured(url)) return undefined
    return `port ${port} (${names}) accepts only TLS connections; write ${secured}://`
  }
  if (url.protocol !== 'https:' || listeners.some(({ carries }) => carries === 'bytes')) return undefined
  return `port ${port} (${names}) accepts no TLS connections; write http://`
}

/** As curl reads it: `@path` is the content of a file. */
function readBody(data: string): Buffer {
  if (!data.startsWith('@')) return Buffer.from(data)
  try {
    return readFileSync(data.slice(1))
  } catch (error) {
    throw new UsageError(`-d ${data}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** An object that is left out does not appear in the explanation. */
function warnOfProblems(store: CheckedObjects, findings: readonly Finding[]): void {
  const { lines, ...counts } = findingLines(store, findings)
  if (lines.length === 0) return
  complain(`the objects have ${countProblems(counts)}; run gatewright lint to list them`)
}

interface ReadRequest {
  readonly method: string
  readonly url: URL
  /** The URL as typed. */
  readonly text: string
}

function readRequest(request: readonly string[], data: string | undefined): ReadRequest {
  if (request.length > 2)
    throw new UsageError(`expected [METHOD] URL, got ${request.length} words: ${request.join(' ')}`)
  const text = request.at(-1)!
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^(?:https?|tcp|tls):$/.test(url.protocol)) {
    throw new UsageError(`${text} is not a URL with scheme http, https, tcp or tls, such as http://localhost:8080/path`)
  }
  if (isConnection(url) && url.port === '') throw new UsageError(`${text} has no port; a tcp or tls URL requires one`)
  return { method: request.length === 2 ? request[0]! : data === undefined ? 'GET' : 'POST', url, text }
}

/** `tcp://host:port`, `tls://host:port`. */
function isConnection({ protocol }: URL): boolean {
  return protocol === 'tcp:' || protocol === 'tls:'
}

function isSecured({ protocol }: URL): boolean {
  return protocol === 'https:' || protocol === 'tls:'
}

/** The server name that a client sends in the TLS handshake; none for IP addresses (RFC 6066, 3). */
function serverNameOf(url: URL): string {
  const { hostname } = url
  return isSecured(url) && isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? hostname.toLowerCase() : ''
}

function portOf(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
}

/**
 * Path and query of a URL as typed: `URL` would resolve dot segments, which the gateway refuses. Characters that a target must not contain
 * are escaped, as clients do.
 */
function targetIn(text: string): string {
  const target = /^[^:]*:\/*[^/?#\\]*([^#]*)/.exec(text)?.[1] ?? ''
  const escaped = target.toWellFormed().replace(/[^!-~]/gu, encodeURIComponent)
  return escaped === '' || escaped.startsWith('?') ? `/${escaped}` : escaped
}

/** The request of a client, parsed like requests from the network; an outcome of `head-outcome.ts` if the parser refuses it. */
function buildHead(
  methodAndTarget: string,
  url: URL,
  header: readonly string[],
  body: Uint8Array | undefined,
): Head | number {
  const broken = header.find((field) => !field.includes(':'))
  if (broken !== undefined) throw new UsageError(`-H ${broken} is not a header field, such as 'name: value'`)
  const has = (name: string) => header.some((field) => field.toLowerCase().startsWith(`${name}:`))
  const fields = [...header]
  if (!has('host')) fields.unshift(`host: ${url.host}`)
  if (body !== undefined && !has('content-type')) fields.push('content-type: application/json')
  if (body !== undefined) fields.push(`content-length: ${body.length}`)
  const text = `${methodAndTarget} HTTP/1.1\r\n${fields.map((field) => `${field}\r\n`).join('')}\r\n`
  return parseHeadText(Buffer.from(text).toString('latin1'))
}

/** The values that are credentials by convention. */
function credentialsOf(head: Head): string[] {
  const values: string[] = []
  head.each((name, value) => {
    if (!isCredentialField(name)) return
    values.push(value, ...(name === 'cookie' ? value.split(/; */).map((pair) => pair.replace(/^[^=]*=/, '')) : []))
  })
  return values
}

function buildExchange(head: Head, body: Uint8Array | undefined, url: URL, socket: LiveSocket): Exchange {
  const exchange = new Exchange(head, {
    remoteAddress: '127.0.0.1',
    remotePort: 50_000,
    rawAddress: '127.0.0.1',
    rawPort: 50_000,
    localAddress: socket.address,
    localPort: socket.port,
    secure: url.protocol === 'https:',
    serverName: serverNameOf(url) || undefined,
    certificate: undefined,
  })
  if (isGrpcRequest(head)) exchange.version = '2'
  exchange.startMonotonicMs = clock.monotonic()
  exchange.bodies = { ...NO_BODIES, request: requestBody(exchange, body) }
  exchange.scheme = url.protocol === 'https:' ? 'https' : 'http'
  exchange.originalMethod = head.method
  exchange.originalAuthority = head.authority
  exchange.originalTarget = head.target
  return exchange
}

/** The request body has arrived. */
function requestBody(exchange: Exchange, body: Uint8Array = new Uint8Array(0)): RequestBodyAccess {
  let whole = body
  let limit = 0
  const change = (bytes: Uint8Array) => {
    exchange.newRequestBody = undefined
    exchange.requestBody = wholeBody(bytes)
    whole = bytes
  }
  return {
    ...NO_BODIES.request,
    async read(maxBytes, use) {
      limit = maxBytes
      const known = exchange.requestBody.whole ?? whole
      const large = use === 'prefix' ? largeBody(known.subarray(0, maxBytes)) : LARGE_BODY
      exchange.requestBody = known.length > maxBytes ? large : wholeBody(known)
      return undefined
    },
    decode: (maxBytes) => decodeRequestBody(exchange, maxBytes),
    async content() {
      const known = exchange.newRequestBody ?? exchange.requestBody.whole
      return known === undefined ? refuseLargeBody('body-too-large', limit) : contentOf(exchange, known, limit)
    },
    outgoing: () => new FixedBody(exchange.newRequestBody ?? exchange.requestBody.whole ?? whole),
    replace(changed) {
      if (changed instanceof Uint8Array) return void change(changed)
      return readWhole(changed).then((bytes) => void change(bytes))
    },
  }
}

/** Memory for a body that a processor returns (`--call`). */
const MEMORY = new BodyMemory(Number.POSITIVE_INFINITY)

function readWhole(body: BodySource): Promise<Uint8Array> {
  const limits = { maxBytes: Number.POSITIVE_INFINITY, claim: new BodyClaim(MEMORY) }
  return new Promise((resolve) => {
    collectBody(body, limits, (result) => typeof result === 'object' && resolve(result.bytes))
  })
}
