import { clock, pause } from '#base/clock.ts'
import type { Sealer } from '#base/sealer.ts'
import type { ImportKey } from '#base/verifying-key.ts'
import { Calls } from '#calls/calls.ts'
import { bindProtocol } from '#engine/backend/bind-protocol.ts'
import { CalledBackends } from '#engine/backend/called-backends.ts'
import { LivePlan } from '#engine/plan/live-plan.ts'
import { denyConnection, type LiveSocket, readsCertificates } from '#engine/route/live-listener.ts'
import type { Call } from '#exchange/call.ts'
import type { GatewayIdentity } from '#exchange/gateway-identity.ts'
import type { GuardLoad } from '#exchange/guard-load.ts'
import type { TokenCounter } from '#exchange/token-counter.ts'
import { PriceBook, type PriceList } from '#models/price-book.ts'
import type { ListenTls } from '#net/accept/listen-tls.ts'
import { CAN_SHARE_PORTS, type ConnectionSettings, type Listener, listen } from '#net/accept/listener.ts'
import { SecureContexts } from '#net/accept/secure-contexts.ts'
import { BodyMemory } from '#net/body/body-memory.ts'
import { ForwardRules, type Network } from '#net/connect/forward-rules.ts'
import type { OperatorSocket } from '#net/connect/own-machine.ts'
import { ownMachine } from '#net/connect/own-sockets.ts'
import type { MeshMaterial } from '#net/hbone/mesh-material.ts'
import type { MeshMember } from '#net/hbone/mesh-member.ts'
import type { Peer } from '#net/peer.ts'
import { createClientPool } from '#net/pool/client-pool.ts'
import type { ClientPool } from '#net/stream.ts'
import { workerWheel } from '#net/timer-wheel.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import type { PlainTransports } from '#net/transport/plain-transports.ts'
import type { DecisionIds } from '#observe/decision-ids.ts'
import type { McpSessionReport } from '#observe/mcp-session-report.ts'
import type { Observer } from '#observe/observer.ts'
import type { BackendFact } from '#plan/backend-fact.ts'
import type { CircuitId } from '#plan/circuit-key.ts'
import type { PlanChange } from '#plan/delta.ts'
import type { EndpointId } from '#plan/endpoint-key.ts'
import type { ListeningSocket } from '#plan/socket.ts'
import type { PasswordChecker } from '#policies/shared/authentication/password-checker.ts'
import type { CloudServices } from '#policies/shared/clouds/cloud-services.ts'
import { type ThreadShare, VerdictCaches } from '#policies/shared/ext-auth/verdict-cache.ts'
import { KeptCopies, type KeptKind, type KeptUpdate } from '#policies/shared/kept/kept-copies.ts'
import type { ToolChanges } from '#protocols/backend-protocol.ts'
import { sessionsOf } from '#protocols/backend-protocols.ts'
import type { Channels } from '#state/channels.ts'
import type { Eviction } from '#state/endpoint-health.ts'
import type { Load } from '#state/load.ts'
import type { SharedTable } from '#state/shared-table.ts'
import { AssignedSlots, type SlotChange, type SlotMemory } from '#state/slots.ts'
import { BackendFacts } from './backend-facts.ts'
import { chooseTls, clientAuthChanged } from './choose-tls.ts'
import { connectionExchange } from './connection-exchange.ts'
import { CutOff } from './cut-off.ts'
import { EndlessStreams } from './endless-streams.ts'
import { incomingConnection } from './incoming-connection.ts'
import { Mirrors } from './mirrors.ts'
import type { ProxyContext } from './proxy-context.ts'
import { Receiver } from './receive.ts'
import { Relay } from './relay.ts'

/** Dependencies of a proxy, without its plan. */
export interface ProxyServerOptions {
  readonly decisionIds: DecisionIds
  readonly gateway?: GatewayIdentity
  readonly memory: SlotMemory
  readonly importKey: ImportKey
  readonly passwords: PasswordChecker
  readonly tokenCounter: TokenCounter
  readonly observer: Observer
  readonly sealer: Sealer
  readonly createClouds: (credentials: CloudServices['credentials']) => CloudServices
  readonly table: SharedTable
  readonly channels: Channels
  /** Keys for TLS session tickets: 48 bytes that all workers share. */
  readonly ticketKeys: Uint8Array
  /** Limit of the memory for the bodies of all requests. */
  readonly bodyMemoryBytes: number
  /** Bytes of each body that decision records have; 0: they have none. */
  readonly recordBodyBytes: number
  /** The worker's part in limits of the instance. */
  readonly share: ThreadShare
  /** Networks that clients may choose destinations in whatever they are (`--allow-forward-to`); default: none. */
  readonly forwardTo?: readonly Network[]
  /** Transports for connections without TLS, on both sides. */
  readonly transports: PlainTransports
  /** Requests a new fetch of a value that is missing or does not suffice. */
  readonly requestKept: (of: KeptKind, id: string, fetchedMs: number) => void
  /** Hears of changed tools of MCP targets. */
  readonly toolsChanged: (changes: ToolChanges) => void
  /** Hears of each eviction that this thread causes. */
  readonly evicted: (endpoint: EndpointId, eviction: Eviction | undefined) => void
  /** Hears of each circuit of a service that this thread opens, with the cause, or closes. */
  readonly circuitChanged: (circuit: CircuitId, cause: string | undefined) => void
  /** Hears of each connection to a backend that failed because the system has no resources for it. */
  readonly exhausted: (cause: string | undefined) => void
  readonly load: Load
  readonly guardLoad: GuardLoad
  /** Receives facts that traffic shows about backends. */
  readonly reportFact: (fact: BackendFact) => void
}

/** A socket that could not be opened. */
export interface FailedSocket {
  readonly socket: string
  readonly message: string
}

/** Time for requests in flight at a socket that was removed from the plan, unless the server stops earlier. */
const DRAIN_MS = 60_000

/** Time for telemetry at the end: as much as is left of the shutdown, within these limits. */
const MIN_FLUSH_MS = 300
const MAX_FLUSH_MS = 2000

interface OpenSocket {
  readonly listener: Listener
  readonly receiver: Receiver
  readonly relay: Relay
  readonly traffic: TrafficKind
}

/** The data plane of one thread: opens the sockets of the plan and serves them. */
export class ProxyServer {
  readonly #slots = new AssignedSlots()
  readonly #plan: LivePlan
  readonly #pool: ClientPool
  readonly #context: ProxyContext
  readonly #open = new Map<string, OpenSocket>()
  /** Removed sockets that still have requests in flight. */
  readonly #closing = new Set<Listener>()
  readonly #draining = new AbortController()
  readonly #secureContexts: SecureContexts
  readonly #transports: PlainTransports
  readonly #kept: KeptCopies
  readonly #prices = new PriceBook()
  readonly #share: ThreadShare
  readonly #mesh: MeshMember = { material: undefined }
  #operatorSockets: readonly OperatorSocket[] = []

  constructor(options: ProxyServerOptions) {
    const { decisionIds, gateway, memory, importKey, passwords, tokenCounter } = options
    const { observer, sealer, table, channels, ticketKeys, transports, evicted, circuitChanged } = options
    this.#share = options.share
    const bodyMemory = new BodyMemory(options.bodyMemoryBytes)
    this.#secureContexts = new SecureContexts(ticketKeys)
    this.#transports = transports
    const slotOf = (key: string) => this.#slots.slotOf(key)
    const valuesOf = (key: string) => this.#slots.valuesOf(key)
    this.#kept = new KeptCopies(importKey, options.requestKept)
    const { keySets, credentials } = this.#kept
    const forwardRules = new ForwardRules(
      options.forwardTo,
      ownMachine({ listeners: () => this.#plan.sockets.values(), servers: () => this.#operatorSockets }),
    )
    const state = {
      memory,
      slotOf,
      valuesOf,
      tlsMaterial: TLS_MATERIAL,
      importKey,
      passwords,
      tokenCounter,
      sealer,
      clouds: options.createClouds(credentials),
      keySets,
      verdicts: new VerdictCaches(options.share),
      evicted,
      circuitChanged,
      forwardRules,
    }
    const plan = new LivePlan(state)
    const pool = createClientPool({
      bodyMemory,
      transports,
      forwardRules,
      mesh: this.#mesh,
      connected: (transport, durationMs) => observer.upstreamConnected(transport, durationMs),
      exhausted: options.exhausted,
    })
    const facts = new BackendFacts(options.reportFact)
    const called = new CalledBackends(state)
    const random = Math.random
    const calls = new Calls({
      pool,
      bodyMemory,
      random,
      backend: (key) => called.find(key, plan.index),
      failed: (backend, endpoint, failure) => facts.record(backend, endpoint, failure),
      ended: (call) => observer.callEnded(call),
    })
    this.#plan = plan
    this.#pool = pool
    this.#context = {
      decisionIds,
      gateway,
      workloads: plan.workloads,
      index: plan.index,
      pool,
      calls,
      mirrors: new Mirrors(calls),
      wheel: workerWheel,
      observer,
      load: options.load,
      guardLoad: options.guardLoad,
      facts,
      prices: this.#prices,
      bodyMemory,
      heapIsFull: false,
      recordBodyBytes: options.recordBodyBytes,
      sealer,
      table,
      channels,
      toolsChanged: options.toolsChanged,
      draining: this.#draining.signal,
      endless: new EndlessStreams(this.#draining.signal),
      cutOff: new CutOff(),
      random,
      now: () => clock.monotonic(),
    }
  }

  /**
   * Applies a change of the plan. Requests in flight keep their decisions, and a route change closes no connection. Sockets that are not in
   * `sockets` any more are drained.
   * @param inherited sockets that listen already. The threads share their descriptors; one that gets none opens a socket of its own
   */
  async update(
    change: PlanChange,
    slots: SlotChange,
    sockets: readonly string[],
    inherited: readonly ListeningSocket[] = [],
  ): Promise<FailedSocket[]> {
    this.#slots.update(slots)
    this.#plan.update(change)
    this.#context.index = this.#plan.index
    this.#context.facts.reset()
    for (const item of change.set) if (item.kind === 'backend') bindProtocol(item).replaced(this.#context)
    this.#secureContexts.keep(new Set(this.#context.index.listeners.map(({ key }) => key)))
    const failed: FailedSocket[] = []
    const removed: OpenSocket[] = []
    for (const [key, open] of this.#open) {
      const socket = sockets.includes(key) ? this.#plan.sockets.get(key) : undefined
      const settings = socket && this.#settingsFor(open, socket)
      if (socket === undefined || settings === undefined) {
        this.#open.delete(key)
        removed.push(open)
      } else {
        open.receiver.socket = socket
        open.relay.socket = socket
        open.listener.configure(settings)
      }
    }
    // If two sockets can share a port, the new one opens before the old one closes.
    if (!CAN_SHARE_PORTS) await this.#closeSockets(removed)
    for (const key of sockets) {
      const socket = this.#plan.sockets.get(key)
      if (socket === undefined || this.#open.has(key)) continue
      const message = await this.#openSocket(key, socket, this.#shareOf(inherited, key))
      if (message !== undefined) failed.push({ socket: key, message })
    }
    if (CAN_SHARE_PORTS) void this.#closeSockets(removed)
    return failed
  }

  /** The sockets of the servers for operators, which are no destinations. */
  set operatorSockets(sockets: readonly OperatorSocket[]) {
    this.#operatorSockets = sockets
  }

  /** Whether new requests are refused, because the heap is nearly full. */
  set heapIsFull(isFull: boolean) {
    this.#context.heapIsFull = isFull
  }

  /** The sockets that this thread listens on. */
  get listening(): readonly ListeningSocket[] {
    return [...this.#open].flatMap(([socket, { listener }]) =>
      listener.descriptors.map((descriptor) => ({ socket, descriptor })),
    )
  }

  /** Calls a backend of the plan as the gateway itself. */
  get call(): Call {
    return this.#context.calls.ofGateway
  }

  /** Sessions of clients that this thread knows, for operators. */
  get sessions(): readonly McpSessionReport[] {
    return sessionsOf(this.#context, this.#context.table)
  }

  keptChanged(update: KeptUpdate): void {
    this.#kept.update(update)
  }

  meshMaterialChanged(material: MeshMaterial | undefined): void {
    this.#mesh.material = material
  }

  pricesChanged(list: PriceList): void {
    this.#prices.update(list)
  }

  /** Removes a value that no policy refers to any more. */
  forgetKept(of: KeptKind, id: string): void {
    this.#kept.remove(of, id)
  }

  /** Sets new keys for TLS session tickets. */
  changeTicketKeys(ticketKeys: Uint8Array): void {
    this.#secureContexts.changeTicketKeys(ticketKeys)
  }

  /**
   * The first step of a shutdown: accepts for `minMs`, asking clients to close connections, so that load balancers notice; then closes the
   * sockets (decision A-117). Open connections are still served.
   */
  async stopAccepting(minMs: number): Promise<void> {
    const listeners = [...this.#open.values()].map(({ listener }) => listener)
    for (const listener of listeners) listener.discourageReuse()
    await pause(minMs)
    await Promise.all(listeners.map((listener) => listener.stopAccepting()))
  }

  /**
   * The second step: waits `drainMs` for requests in flight, then aborts them.
   * @param flush makes the last calls of the gateway itself, within a time limit in milliseconds
   * @returns the number of aborted requests and connections
   */
  async drain(drainMs: number, flush: (limitMs: number) => Promise<void>): Promise<number> {
    const { cutOff, mirrors, now } = this.#context
    const startMs = now()
    this.#draining.abort()
    const listeners = [...this.#closing, ...[...this.#open.values()].map(({ listener }) => listener)]
    await Promise.all(listeners.map((listener) => listener.close({ drainMs, cutting: () => cutOff.begin() })))
    await mirrors.close()
    const leftMs = drainMs - (now() - startMs)
    await flush(Math.min(MAX_FLUSH_MS, Math.max(MIN_FLUSH_MS, leftMs)))
    this.#pool.close()
    return cutOff.count
  }

  /** Resolves when their ports are free; their connections are drained then. */
  async #closeSockets(sockets: readonly OpenSocket[]): Promise<void> {
    for (const { listener } of sockets) {
      this.#closing.add(listener)
      void listener.close({ drainMs: DRAIN_MS }).then(() => this.#closing.delete(listener))
    }
    await Promise.all(sockets.map(({ listener }) => listener.stopAccepting()))
  }

  /**
   * A socket that changes to or from TLS, or changes its requirements for client certificates, is closed and opened again (decision A-39).
   * So is one whose settings cannot be compiled, and the second attempt reports the failure.
   * @returns undefined: it has to be closed
   */
  #settingsFor({ traffic, receiver }: OpenSocket, socket: LiveSocket): ConnectionSettings | undefined {
    if (trafficOf(socket) !== traffic || clientAuthChanged(receiver.socket, socket)) return undefined
    try {
      return connectionSettings(socket, this.#context)
    } catch {
      return undefined
    }
  }

  #shareOf(inherited: readonly ListeningSocket[], key: string): readonly number[] {
    const { place, threads } = this.#share
    const all = inherited.filter(({ socket }) => socket === key).map(({ descriptor }) => descriptor)
    return all.filter((_, i) => i % threads === place)
  }

  async #openSocket(key: string, socket: LiveSocket, inherited: readonly number[]): Promise<string | undefined> {
    const receiver = new Receiver(this.#context, socket)
    const relay = new Relay(this.#context, socket)
    const traffic = trafficOf(socket)
    const { observer } = this.#context
    try {
      const listener = await listen({
        host: socket.address,
        port: socket.port,
        reusePort: CAN_SHARE_PORTS,
        inherited,
        handler: receiver,
        relay,
        transports: this.#transports,
        ...connectionSettings(socket, this.#context),
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
    try {
      const denial = denyConnection(socket, index, connectionExchange(this.#context, peer))
      if (denial === undefined) return true
      observer.connectionDenied(peer, denial)
    } catch (error) {
      observer.bug('connection', error)
    }
    return false
  }
}

/** The kind of traffic; the listeners of one socket have the same. */
type TrafficKind = 'http' | 'bytes' | 'tls'

function trafficOf({ listeners }: LiveSocket): TrafficKind {
  const { tlsMode, protocol } = listeners[0]!.item
  if (tlsMode !== undefined) return 'tls'
  return protocol === 'TCP' ? 'bytes' : 'http'
}

/**
 * Connection settings exist once per socket: those of the first listener's Gateway (decision A-40).
 * @throws if a bug stops the compilation of those of any listener: each may decide who can connect
 */
function connectionSettings(socket: LiveSocket, { index }: ProxyContext): ConnectionSettings {
  for (const { frontend } of socket.listeners) frontend.get(index)
  const { maxHeaders, idleTimeoutMs, maxConnectionMs, http2, keepalive, proxyProtocol, tls } =
    socket.listeners[0]!.frontend.get(index)
  return {
    limits: { maxHeaders, idleTimeoutMs, maxConnectionMs, http2 },
    keepalive,
    proxyHeader: proxyProtocol,
    handshakeTimeoutMs: tls.handshakeTimeoutMs,
    admitsLate: readsCertificates(socket, index),
  }
}
