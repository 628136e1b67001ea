import type { SecureContext } from 'node:tls'
import { clock } from '#base/clock.ts'
import type { Finding } from '#base/finding.ts'
import { type Listener, listen } from '#net/accept/listener.ts'
import { Head } from '#net/http/head.ts'
import { isGrpcRequest } from '#net/http/request-rules.ts'
import { DEFAULT_SERVER_LIMITS, type ServerLimits } from '#net/limits.ts'
import type { Peer } from '#net/peer.ts'
import { type Abort, BODY_NONE, type ServerStream, type StreamHandler } from '#net/stream.ts'
import type { PlanDelta } from '#plan/delta.ts'
import type { PlanTarget } from '#plan/plan-link.ts'
import { DELTA_PATH } from './discovery-messages.ts'
import { REPORTS_PATH } from './forwarded-report.ts'
import { GatewayPlans } from './gateway-plans.ts'
import { PeerCounts, PeerRates } from './peer-limits.ts'
import { type Admission, ProxyStream, type ProxyStreamOwner, type ServedProxy } from './proxy-stream.ts'
import { ReplicaStream, type ReplicaStreamOwner } from './replica-stream.ts'
import { refuseStream, type StreamEnd } from './served-stream.ts'

/** Life of a stream: 30 minutes, and up to a tenth more or less, so that proxies do not come back together. */
const STREAM_MS = 30 * 60_000
const JITTER = 0.1

/** A credential is checked again after this time, and up to a fifth more: its pod, account or Gateway may be deleted. */
const CHECK_MS = 60_000
const CHECK_JITTER = 0.2

/** Of one address, whether they are admitted or not. */
const MAX_STREAMS_OF_PEER = 128
/** New connections of one address: at once, and per second. Those without a stream end after a minute. */
const CONNECTIONS_AT_ONCE = 128
const CONNECTIONS_PER_SECOND = 4
const MAX_CONNECTIONS = 10_000

const LIMITS: Partial<ServerLimits> = {
  headTimeoutMs: 10_000,
  idleTimeoutMs: 60_000,
  writeTimeoutMs: 60_000,
  http2: { ...DEFAULT_SERVER_LIMITS.http2, maxStreams: 16, keepaliveIntervalMs: 30_000 },
}

/** The request fields of a stream. */
export type CallMetadata = Pick<Head, 'get'>

/** Decides which Gateway's plan a proxy may see. A refusal is told to the client. */
export type Authorise = (metadata: CallMetadata, peer: Peer) => Promise<Admission | StreamEnd>

export interface PlanServerOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** The certificate of the server, for each new connection; undefined: the port has no TLS. */
  readonly tls?: () => SecureContext
  readonly authorise: Authorise
  /** Whether a request is from another replica, whose reports of proxies are believed; default: there is none. */
  readonly isReplica?: (metadata: CallMetadata) => boolean
  /** A proxy has connected, acknowledged, refused or reported something. */
  readonly changed?: (proxy: ServedProxy) => void
  readonly left?: (proxy: ServedProxy, why: string) => void
  /** A stream or connection was refused. @param why without anything that the client sent */
  readonly refused?: (peer: Peer, why: string) => void
  /** A bug: `authorise` threw. */
  readonly reportBug: (error: unknown) => void
  /** From 0 to 1. */
  readonly random?: () => number
}

/** Delivers the plan of a controller to the proxies of each Gateway, by incremental xDS over gRPC. */
export class PlanServer implements PlanTarget {
  readonly #options: PlanServerOptions
  readonly #plans = new GatewayPlans()
  /** Each with the timer of the next check of its credential. */
  readonly #proxies = new Map<ProxyStream, { cancel(): void }>()
  readonly #connections = new PeerRates(CONNECTIONS_AT_ONCE, CONNECTIONS_PER_SECOND)
  readonly #streams = new PeerCounts(MAX_STREAMS_OF_PEER)
  readonly #replicas = new Set<ReplicaStream>()
  /** Requests that wait until the plan is whole. */
  readonly #waiting: (() => void)[] = []
  #isWhole = false
  #listener: Listener | undefined

  constructor(options: PlanServerOptions) {
    this.#options = options
  }

  /** Opens the port. @returns its number @throws ListenError */
  async listen(): Promise<number> {
    const { host, port, tls, refused = () => {} } = this.#options
    const chosen = tls && {
      choose: () => ({ context: tls(), alpnProtocols: ['h2'], clientCertificate: 'none', carries: 'http' }) as const,
    }
    this.#listener = await listen({
      host,
      port,
      limits: LIMITS,
      handler: this.#handler,
      ...(chosen && { traffic: chosen }),
      admit: (peer) => this.#admits(peer),
      refused,
    })
    return this.#listener.port
  }

  /** Takes a change of the plan. What proxies find is reported later, by `changed`. */
  take(delta: PlanDelta): ReadonlyMap<string, readonly Finding[]> {
    this.#plans.take(delta)
    return new Map()
  }

  /** The plan contains all that the sources of objects have. Proxies get nothing before. */
  open(): void {
    this.#isWhole = true
    for (const go of this.#waiting.splice(0)) go()
  }

  get proxies(): Iterable<ServedProxy> {
    return this.#proxies.keys()
  }

  /** Ends the streams of proxies whose pod, account or token no longer exists. */
  revoke(isRevoked: (proxy: ServedProxy) => boolean, message: string): void {
    for (const proxy of [...this.#proxies.keys()])
      if (isRevoked(proxy)) proxy.end({ status: 'unauthenticated', message })
  }

  /** Ends all streams, so that proxies connect to another server. */
  async close(): Promise<void> {
    for (const proxy of [...this.#proxies.keys()])
      proxy.end({ status: 'unavailable', message: 'the server is stopping' })
    for (const replica of [...this.#replicas]) replica.end({ status: 'unavailable', message: 'the server is stopping' })
    await this.#listener?.close({ drainMs: 1000 })
  }

  readonly #owner: ProxyStreamOwner & ReplicaStreamOwner = {
    plans: this.#plans,
    changed: (proxy) => this.#options.changed?.(proxy),
    ended: (proxy, why) => {
      this.#proxies.get(proxy)?.cancel()
      this.#proxies.delete(proxy)
      this.#options.left?.(proxy, why)
    },
    left: (proxy, why) => this.#options.left?.(proxy, why),
    replicaEnded: (replica) => void this.#replicas.delete(replica),
  }

  readonly #handler: StreamHandler = {
    request: (stream) => this.#request(stream),
    finished: (stream) => this.#gone(stream, 'cancelled'),
    aborted: (stream, why) => this.#gone(stream, why),
    refused: (peer, code) => {
      this.#options.refused?.(peer, code)
      return undefined
    },
    broken: (peer, fault) => this.#options.refused?.(peer, fault),
  }

  #admits(peer: Peer): boolean {
    const isAdmitted = this.#listener!.connections < MAX_CONNECTIONS && this.#connections.take(peer.rawAddress)
    if (!isAdmitted) this.#options.refused?.(peer, 'too many connections')
    return isAdmitted
  }

  #request(stream: ServerStream): void {
    const { peer, head } = stream
    // Until the stream is over, its context says so.
    const call: Call = { isOver: false, isCounted: false, served: undefined }
    stream.context = call
    if (stream.version !== '2' || !isGrpcRequest(head) || head.method !== 'POST') return refuseForeign(stream)
    const isFromReplica = head.target === REPORTS_PATH && this.#options.isReplica !== undefined
    if (head.target !== DELTA_PATH && !isFromReplica)
      return this.#refuse(stream, { status: 'unimplemented', message: `this server only has ${DELTA_PATH}` })
    if ((head.get('grpc-encoding') ?? 'identity') !== 'identity')
      return this.#refuse(stream, {
        status: 'unimplemented',
        message: 'this server does not accept compressed messages',
      })
    call.isCounted = this.#streams.add(peer.rawAddress)
    if (!call.isCounted)
      return this.#refuse(stream, { status: 'resourceExhausted', message: 'too many streams from this address' })
    void (isFromReplica ? this.#admitReplica(stream, call) : this.#admit(stream, call))
  }

  async #admit(stream: ServerStream, call: Call): Promise<void> {
    // The stream, with its head, serves another request if this one ends early.
    const head = stream.head.clone()
    const { peer } = stream
    const admission = await this.#authorised(head, peer)
    if (call.isOver) return
    if ('status' in admission) return this.#refuse(stream, admission)
    await this.#whole()
    if (call.isOver) return
    const proxy = new ProxyStream(stream, admission, this.#endOf(admission), this.#owner)
    call.served = proxy
    this.#checkLater(proxy, () => this.#authorised(head, peer))
    this.#options.changed?.(proxy)
  }

  async #admitReplica(stream: ServerStream, call: Call): Promise<void> {
    if (!this.#options.isReplica!(stream.head))
      return this.#refuse(stream, { status: 'unauthenticated', message: 'the token is not that of a replica' })
    await this.#whole()
    if (call.isOver) return
    const replica = new ReplicaStream(stream, this.#owner)
    this.#replicas.add(replica)
    call.served = replica
  }

  /** Resolves when the plan is whole. */
  async #whole(): Promise<void> {
    if (!this.#isWhole) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  async #authorised(head: Head, peer: Peer): Promise<Admission | StreamEnd> {
    try {
      return await this.#options.authorise(head, peer)
    } catch (error) {
      this.#options.reportBug(error)
      return { status: 'unavailable', message: 'the credential cannot be checked now' }
    }
  }

  #checkLater(proxy: ProxyStream, authorised: () => Promise<Admission | StreamEnd>): void {
    const { random = Math.random } = this.#options
    const check = async () => {
      const admission = await authorised()
      if (!this.#proxies.has(proxy)) return
      if ('status' in admission && admission.status !== 'unavailable') return proxy.end(admission)
      if ('gateway' in admission && admission.gateway !== proxy.gateway)
        return proxy.end({ status: 'unauthenticated', message: 'the credential is for another Gateway now' })
      this.#checkLater(proxy, authorised)
    }
    this.#proxies.set(
      proxy,
      clock.after(CHECK_MS * (1 + CHECK_JITTER * random()), () => void check()),
    )
  }

  #endOf({ expiresMs = Number.POSITIVE_INFINITY }: Admission): { readonly ms: number } & StreamEnd {
    const { random = Math.random } = this.#options
    const ms = STREAM_MS * (1 + JITTER * (2 * random() - 1))
    const leftMs = Math.max(0, expiresMs - clock.now())
    if (leftMs < ms) return { ms: leftMs, status: 'unauthenticated', message: 'the credential has expired' }
    return { ms, status: 'ok', message: 'the stream has reached its age' }
  }

  #refuse(stream: ServerStream, end: StreamEnd): void {
    this.#options.refused?.(stream.peer, end.message)
    refuseStream(stream, end)
  }

  /** The object of the stream may serve another request from now on. */
  #gone(stream: ServerStream, why: Abort): void {
    const call = stream.context as Call
    call.isOver = true
    if (call.isCounted) this.#streams.remove(stream.peer.rawAddress)
    call.isCounted = false
    call.served?.closed(why)
  }
}

/** A request, while its stream lasts. */
interface Call {
  isOver: boolean
  isCounted: boolean
  served: { closed(why: Abort): void } | undefined
}

/** Something that does not speak gRPC, such as a browser. */
function refuseForeign(stream: ServerStream): void {
  stream.respond(Head.response(415), BODY_NONE, 0)
  stream.response.end()
}
