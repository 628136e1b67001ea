import { clock } from '#base/clock.ts'
import type { Sealer } from '#base/sealer.ts'
import type { ImportKey } from '#base/verifying-key.ts'
import { Calls } from '#calls/calls.ts'
import { CalledBackends } from '#engine/backend/called-backends.ts'
import { LivePlan } from '#engine/plan/live-plan.ts'
import { denyConnection, type LiveSocket, readsCertificates } from '#engine/route/live-listener.ts'
import type { GatewayIdentity } from '#exchange/gateway-identity.ts'
import type { ListenTls } from '#net/accept/listen-tls.ts'
import { CAN_SHARE_PORTS, type ConnectionSettings, type Listener, listen } from '#net/accept/listener.ts'
import { SecureContexts } from '#net/accept/secure-contexts.ts'
import { BodyMemory } from '#net/body/body-memory.ts'
import type { Peer } from '#net/peer.ts'
import { createClientPool } from '#net/pool/client-pool.ts'
import type { ClientPool } from '#net/stream.ts'
import { workerWheel } from '#net/timer-wheel.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import type { PlainTransports } from '#net/transport/plain-transports.ts'
import type { DecisionIds } from '#observe/decision-ids.ts'
import type { Observer } from '#observe/observer.ts'
import type { BackendFact } from '#plan/backend-fact.ts'
import type { PlanChange } from '#plan/delta.ts'
import { type KeySetNews, RemoteKeySets } from '#policies/shared/authentication/remote-key-set.ts'
import type { OnceMemory } from '#state/once-memory.ts'
import type { SlotChange, SlotMemory } from '#state/slots.ts'
import { BackendFacts } from './backend-facts.ts'
import { asksOtherwise, chooseTls } from './choose-tls.ts'
import { connectionExchange } from './connection-exchange.ts'
import { incomingConnection } from './incoming-connection.ts'
import { Load } from './load.ts'
import type { ProxyContext } from './proxy-context.ts'
import { Receiver } from './receive.ts'
import { Relay } from './relay.ts'

/** What a proxy is made of besides its plan. */
export interface ProxyServerOptions {
  readonly decisionIds: DecisionIds
  readonly gateway?: GatewayIdentity
  readonly memory: SlotMemory
  readonly importKey: ImportKey
  readonly observer: Observer
  readonly sealer: Sealer
  readonly once: OnceMemory
  /** For TLS session tickets; 48 bytes that all workers share. */
  readonly ticketKeys: Uint8Array
  /** Memory for bodies of all requests together. */
  readonly bodyMemoryBytes: number
  /** How connections without TLS are read and written, on both sides. */
  readonly transports: PlainTransports
  /** Has a key set fetched, in which requests look for a key in vain. */
  readonly askKeySet: (id: string) => void
  /** Takes what traffic shows about backends. */
  readonly tellFact: (fact: BackendFact) => void
}

/** A socket that could not be opened. */
export interface FailedSocket {
  readonly socket: string
  readonly message: string
}

/** How long requests may go on at a socket that the plan has given up, unless the server stops before. */
const DRAIN_MS = 60_000

interface OpenSocket {
  readonly listener: Listener
  readonly receiver: Receiver
  readonly relay: Relay
  readonly traffic: TrafficKind
}

/** The data plane of one thread: listens where the plan says and serves by it. */
export class ProxyServer {
  readonly #slots = new Map<string, number>()
  readonly #plan: LivePlan
  readonly #pool: ClientPool
  readonly #context: ProxyContext
  readonly #open = new Map<string, OpenSocket>()
  /** Given up, with requests that go on. */
  readonly #leaving = new Set<Listener>()
  readonly #draining = new AbortController()
  readonly #secureContexts: SecureContexts
  readonly #transports: PlainTransports
  readonly #keySets: RemoteKeySets

  constructor(options: ProxyServerOptions) {
    const { decisionIds, gateway, memory, importKey, observer, sealer, once, ticketKeys, transports } = options
    const bodyMemory = new BodyMemory(options.bodyMemoryBytes)
    this.#secureContexts = new SecureContexts(ticketKeys)
    this.#transports = transports
    const slotOf = (key: string) => this.#slots.get(key)
    this.#keySets = new RemoteKeySets(importKey, options.askKeySet)
    const state = { memory, slotOf, tlsMaterial: TLS_MATERIAL, importKey, keySets: this.#keySets }
    const plan = new LivePlan(state)
    const pool = createClientPool({ bodyMemory, transports })
    const facts = new BackendFacts(options.tellFact)
    const called = new CalledBackends(state)
    const random = Math.random
    this.#plan = plan
    this.#pool = pool
    this.#context = {
      decisionIds,
      gateway,
      workloads: plan.workloads,
      index: plan.index,
      pool,
      calls: new Calls({
        pool,
        bodyMemory,
        random,
        backend: (key) => called.find(key, plan.index),
        failed: (backend, endpoint, failure) => facts.learn(backend, endpoint, failure),
        ended: (call) => observer.callEnded(call),
      }),
      wheel: workerWheel,
      observer,
      load: new Load(),
      facts,
      bodyMemory,
      sealer,
      once,
      draining: this.#draining.signal,
      random,
      now: () => clock.monotonic(),
    }
  }

  /**
   * Serves by the plan as it is after a change. Requests in flight keep what they were decided on; a route change closes no connection. Sockets that are
   * not in `sockets` any more are drained.
   */
  async update(change: PlanChange, slots: SlotChange, sockets: readonly string[]): Promise<FailedSocket[]> {
    for (const key of slots.freed) this.#slots.delete(key)
    for (const [key, slot] of slots.assigned) this.#slots.set(key, slot)
    this.#plan.update(change)
    this.#context.index = this.#plan.index
    this.#context.facts.forget()
    this.#secureContexts.keep(new Set(this.#context.index.listeners.map(({ key }) => key)))
    const failed: FailedSocket[] = []
    const givenUp: OpenSocket[] = []
    for (const [key, open] of this.#open) {
      const place = sockets.includes(key) ? this.#plan.sockets.get(key) : undefined
      // A socket that changes to or from TLS, or asks its clients for other proof, is another one (decision A-39).
      if (place === undefined || trafficOf(place) !== open.traffic || asksOtherwise(open.receiver.socket, place)) {
        this.#open.delete(key)
        givenUp.push(open)
      } else {
        open.receiver.socket = place
        open.relay.socket = place
        open.listener.configure(connectionSettings(place, this.#context))
      }
    }
    // Its successor takes connections before a socket stops to, where both can be there.
    if (!CAN_SHARE_PORTS) this.#giveUp(givenUp)
    for (const key of sockets) {
      const place = this.#plan.sockets.get(key)
      if (place === undefined || this.#open.has(key)) continue
      const message = await this.#openSocket(key, place)
      if (message !== undefined) failed.push({ socket: key, message })
    }
    if (CAN_SHARE_PORTS) this.#giveUp(givenUp)
    return failed
  }

  keySetChanged(news: KeySetNews): void {
    this.#keySets.learn(news)
  }

  /** No policy names it any more. */
  forgetKeySet(id: string): void {
    this.#keySets.forget(id)
  }

  /** New keys for TLS session tickets. */
  changeTicketKeys(ticketKeys: Uint8Array): void {
    this.#secureContexts.changeTicketKeys(ticketKeys)
  }

  /**
   * Asks clients not to come back, while balancers notice; stops accepting after `minMs`, waits for requests in flight until `maxMs`,
   * then cuts them (decision A-117).
   */
  async drain(minMs: number, maxMs: number): Promise<void> {
    for (const { listener } of this.#open.values()) listener.discourageReuse()
    await new Promise<void>((resolve) => clock.after(minMs, resolve))
    this.#draining.abort()
    const drainMs = Math.max(0, maxMs - minMs)
    const listeners = [...this.#leaving, ...[...this.#open.values()].map(({ listener }) => listener)]
    await Promise.all(listeners.map((listener) => listener.close({ drainMs })))
    this.#pool.close()
  }

  #giveUp(sockets: readonly OpenSocket[]): void {
    for (const { listener } of sockets) {
      this.#leaving.add(listener)
      void listener.close({ drainMs: DRAIN_MS }).then(() => this.#leaving.delete(listener))
    }
  }

  async #openSocket(key: string, place: LiveSocket): Promise<string | undefined> {
    const receiver = new Receiver(this.#context, place)
    const relay = new Relay(this.#context, place)
    const traffic = trafficOf(place)
    const { observer } = this.#context
    try {
      const listener = await listen({
        host: place.address,
        port: place.port,
        reusePort: CAN_SHARE_PORTS,
        handler: receiver,
        relay,
        transports: this.#transports,
        ...connectionSettings(place, this.#context),
        admit: (peer) => this.#admits(receiver.socket, peer),
        served: (peer, { bytesRead, bytesWritten }) => {
          const served = incomingConnection(receiver.socket, peer, peer.secure ? 'https' : 'http')
          observer.connectionEnded(served, bytesRead, bytesWritten)
        },
        secured: (peer, durationMs, carries) => {
          const secured = incomingConnection(receiver.socket, peer, carries === 'http' ? 'https' : 'tls')
          observer.handshakeEnded(secured, durationMs)
        },
        refused: (peer, why) => observer.connectionRefused(peer, why),
        traffic: traffic === 'tls' ? this.#tlsOf(receiver) : traffic,
      })
      this.#open.set(key, { listener, receiver, relay, traffic })
      return undefined
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  #tlsOf(receiver: Receiver): ListenTls {
    const contexts = this.#secureContexts
    return {
      choose: ({ serverName }) => chooseTls(receiver.socket, serverName, { index: this.#context.index, contexts }),
    }
  }

  #admits(socket: LiveSocket, peer: Peer): boolean {
    const { index, observer } = this.#context
    const denial = denyConnection(socket, index, connectionExchange(this.#context, peer))
    if (denial === undefined) return true
    observer.connectionDenied(peer, denial)
    return false
  }
}

/** What comes in: listeners of one socket agree on it. */
type TrafficKind = 'http' | 'bytes' | 'tls'

function trafficOf({ listeners }: LiveSocket): TrafficKind {
  const { tlsMode, protocol } = listeners[0]!.item
  if (tlsMode !== undefined) return 'tls'
  return protocol === 'TCP' ? 'bytes' : 'http'
}

/** Connection settings exist once per socket: those of the first listener's Gateway (decision A-40). */
function connectionSettings(place: LiveSocket, { index }: ProxyContext): ConnectionSettings {
  const { maxHeaders, idleTimeoutMs, maxConnectionMs, http2, keepalive, proxyProtocol, tls } =
    place.listeners[0]!.frontend.get(index)
  return {
    limits: { maxHeaders, idleTimeoutMs, maxConnectionMs, http2 },
    keepalive,
    proxyHeader: proxyProtocol,
    handshakeTimeoutMs: tls.handshakeTimeoutMs,
    admitsLate: readsCertificates(place, index),
  }
}
