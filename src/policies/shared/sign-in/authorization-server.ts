import type { CallRequest, CallResponse } from '#exchange/call.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { FailedCall, failureOf } from '#exchange/failed-call.ts'
import type { Outcome } from '#exchange/outcome.ts'
import type { RunContext } from '#exchange/run-context.ts'
import { SingleFlight } from '#exchange/single-flight.ts'
import { afterwards } from '#exchange/step.ts'
import { readBody } from './read-body.ts'
import { readServerMetadata, type ServerMetadata } from './server-metadata.ts'

/** How long metadata is used before it is fetched again, and how long after that if it cannot be fetched (decision B76). */
const FRESH_MS = 60_000
const STALE_MS = 600_000
/** Time without another attempt after a failure. */
const PAUSE_MS = 5000
/** For a whole call. */
const DEADLINE_MS = 10_000
const MAX_BYTES = 256 * 1024

/** The identity provider cannot be used. */
export class Unavailable {
  /** For operators. */
  readonly why: string

  constructor(why: string) {
    this.why = why
  }
}

/** The address of an authorization server. */
export interface ServerAddress {
  /** Key of its backend. */
  readonly destination: string
  readonly issuer: string
  /** The issuer as an address. */
  readonly url: URL
  /** The provider publishes OpenID Connect discovery only. */
  readonly usesDiscovery: boolean
}

type Found = ServerMetadata | Unavailable

/** The authorization server of an identity provider. Its metadata is fetched when a client asks for it, once for all that ask. */
export class AuthorizationServer {
  /** Undefined: the issuer has no address, or none is configured. */
  readonly address: ServerAddress | undefined
  readonly #fetches = new SingleFlight<Found>()
  #kept: { readonly metadata: ServerMetadata; readonly fetchedMs: number } | undefined
  #failed: { readonly failure: Unavailable; readonly atMs: number } | undefined

  constructor(address: ServerAddress | undefined) {
    this.address = address
  }

  /** Continues with the metadata, at once if it is known. */
  withMetadata(exchange: Exchange, go: (found: Found) => Outcome | Promise<Outcome>): Outcome | Promise<Outcome> {
    const { context } = exchange
    const known = this.#known(context.monotonic())
    if (known !== undefined) return go(known)
    const fetched = this.#fetches.run('', (signal) => this.#fetch(context, signal), context.signal)
    return afterwards(exchange, fetched, go)
  }

  /** Sends a request; redirects are not followed. */
  async send(
    call: RunContext['call'],
    request: Pick<CallRequest, 'method' | 'path' | 'headers' | 'body'>,
    signal: AbortSignal,
  ): Promise<{ readonly response: CallResponse; readonly text: string } | Unavailable> {
    const { destination, url } = this.address!
    const what = `${request.method} ${request.path} of ${destination}`
    try {
      const response = await call(destination, {
        ...request,
        purpose: 'sign-in',
        host: url.host,
        timeoutMs: 0,
        deadlineMs: DEADLINE_MS,
        signal,
      })
      const text = await readBody(response, MAX_BYTES)
      return text instanceof FailedCall ? new Unavailable(`${what}: ${text.text}`) : { response, text }
    } catch (error) {
      return new Unavailable(`${what}: ${failureOf(error).text}`)
    }
  }

  #known(nowMs: number): Found | undefined {
    if (this.address === undefined) return NO_ADDRESS
    if (this.#kept !== undefined && nowMs < this.#kept.fetchedMs + FRESH_MS) return this.#kept.metadata
    if (this.#failed === undefined || nowMs >= this.#failed.atMs + PAUSE_MS) return undefined
    return this.#stale(nowMs) ?? this.#failed.failure
  }

  #stale(nowMs: number): ServerMetadata | undefined {
    const kept = this.#kept
    return kept !== undefined && nowMs < kept.fetchedMs + FRESH_MS + STALE_MS ? kept.metadata : undefined
  }

  async #fetch(context: RunContext, signal: AbortSignal): Promise<Found> {
    const found = await this.#ask(context.callShared, signal)
    const nowMs = context.monotonic()
    if (found instanceof Unavailable) {
      // Without waiting clients, nothing has failed.
      if (!signal.aborted) this.#failed = { failure: found, atMs: nowMs }
      return this.#stale(nowMs) ?? found
    }
    this.#kept = { metadata: found, fetchedMs: nowMs }
    return found
  }

  /** A server without the first document may have the next one. */
  async #ask(call: RunContext['call'], signal: AbortSignal): Promise<Found> {
    const { issuer, url, usesDiscovery } = this.address!
    let missing: Unavailable | undefined
    for (const path of usesDiscovery ? [discoveryPath(url)] : [metadataPath(url), discoveryPath(url)]) {
      const answer = await this.send(call, { method: 'GET', path, headers: ACCEPT, body: undefined }, signal)
      if (answer instanceof Unavailable) return answer
      const { status } = answer.response
      const what = `GET ${path} of ${this.address!.destination}`
      if (status === 200) {
        const metadata = readServerMetadata(answer.text, issuer)
        return typeof metadata === 'string' ? new Unavailable(`${what}: ${metadata}`) : metadata
      }
      missing ??= new Unavailable(`${what}: the server answered ${status}`)
      if (status < 400 || status > 499) return missing
    }
    return missing!
  }
}

const ACCEPT = [['accept', 'application/json']] as const
const NO_ADDRESS = new Unavailable('the issuer of the first provider is not an http or https address')

/** RFC 8414, 3.1: before the path of the issuer. */
function metadataPath({ pathname }: URL): string {
  return `/.well-known/oauth-authorization-server${withoutSlash(pathname)}`
}

/** OpenID Connect Discovery 1.0, 4: after it. */
function discoveryPath({ pathname }: URL): string {
  return `${withoutSlash(pathname)}/.well-known/openid-configuration`
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path
}
