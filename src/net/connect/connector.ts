import { clock } from '#base/clock.ts'
import type { Destination } from '../destination.ts'
import { PodTunnels } from '../hbone/pod-tunnels.ts'
import type { TimerWheel } from '../timer-wheel.ts'
import type { PlainTransports } from '../transport/plain-transports.ts'
import { ConnectionBudgets, type RoomSeeker } from './connection-budget.ts'
import type { DialContext, Dialling, DialOptions } from './dial.ts'
import { dialEndpoint } from './dial-endpoint.ts'
import { IdleConnections } from './idle-connections.ts'
import { Names } from './names.ts'
import type { ConnectTransport, PoolSettings } from './pool-settings.ts'
import { TunnelDial } from './tunnel-dial.ts'

type ConnectorSettings = Pick<
  PoolSettings,
  'wheel' | 'lookup' | 'transports' | 'forwardRules' | 'connected' | 'exhausted' | 'mesh' | 'idleTimeoutMs'
>

/** Opens the upstream connections of one worker. */
export class Connector {
  readonly wheel: TimerWheel
  readonly transports: PlainTransports
  /** To destinations that clients have chosen. */
  readonly chosenIdle: IdleConnections = new IdleConnections()
  readonly #budgets = new ConnectionBudgets()
  readonly #names: Names
  readonly #podTunnels: PodTunnels
  readonly #forwardRules: PoolSettings['forwardRules']
  readonly #connected: PoolSettings['connected']
  readonly #exhausted: PoolSettings['exhausted']

  constructor(settings: ConnectorSettings) {
    const { wheel, lookup, transports, forwardRules, connected, exhausted, mesh, idleTimeoutMs } = settings
    this.wheel = wheel
    this.transports = transports
    this.#connected = connected
    this.#exhausted = exhausted
    this.#names = new Names(wheel, lookup)
    this.#podTunnels = new PodTunnels({ member: mesh, wheel, idleTimeoutMs })
    this.#forwardRules = forwardRules
  }

  /**
   * Counts a connection, which must be dialled next.
   * @returns false if the limit of the address is reached; `seeker` is called when there may be room
   */
  reserve(destination: Destination, seeker?: RoomSeeker): boolean {
    return this.#budgets.take(destination, seeker)
  }

  /** Opens the reserved connection. */
  dial(
    destination: Destination,
    context: DialContext,
    options: Pick<DialOptions, 'onread' | 'halfOpen' | 'done'>,
  ): Dialling {
    const { tunnel } = destination
    const startMs = clock.monotonic()
    const done: DialOptions['done'] = (socket, failure, use) => {
      if (socket !== null) this.#connected(transportOf(destination), clock.monotonic() - startMs)
      else if (failure?.code === 'resources-exhausted') this.#exhausted(failure.detail)
      options.done(socket, failure, use)
    }
    const rules = this.#forwardRules
    // Of a proxy server, the client chooses the far end, which its proxy server dials.
    const isChosen = destination.chosenByClient === true && tunnel === undefined
    const refuse: DialOptions['refuse'] = (address, port) =>
      isChosen ? rules.refuse(address, port) : rules.refuseConfigured(address, port)
    const { wheel } = this
    const gone = this.#giverOf(destination)
    const all = { ...options, wheel, names: this.#names, podTunnels: this.#podTunnels, done, refuse, gone }
    return tunnel === undefined || tunnel.mode === 'mesh'
      ? dialEndpoint(destination, context, all)
      : new TunnelDial(destination, tunnel, context, all)
  }

  /** Closes what the connections share: sessions with tunnels, when the last of these closes. */
  close(): void {
    this.#podTunnels.close()
  }

  /** It lasts as long as the connection, so it keeps nothing else in memory. */
  #giverOf(destination: Destination): () => void {
    return () => this.#budgets.give(destination)
  }
}

function transportOf({ tls, tunnel }: Destination): ConnectTransport {
  if (tunnel?.mode === 'mesh') return tls === undefined ? 'hbone' : 'hbone-tls'
  if (tunnel !== undefined) return tls === undefined ? 'tunnel' : 'tunnel-tls'
  return tls === undefined ? 'plaintext' : 'tls'
}
