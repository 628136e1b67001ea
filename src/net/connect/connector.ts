import { clock } from '#base/clock.ts'
import type { Destination } from '../destination.ts'
import type { TimerWheel } from '../timer-wheel.ts'
import type { PlainTransports } from '../transport/plain-transports.ts'
import { ConnectionBudgets, type RoomSeeker } from './connection-budget.ts'
import { Dial, type DialContext, type Dialling, type DialOptions } from './dial.ts'
import { IdleConnections } from './idle-connections.ts'
import { Names } from './names.ts'
import type { ConnectTransport, PoolSettings } from './pool-settings.ts'
import { TunnelDial } from './tunnel-dial.ts'

type ConnectorSettings = Pick<
  PoolSettings,
  'wheel' | 'lookup' | 'transports' | 'forwardRules' | 'connected' | 'exhausted'
>

/** Opens the upstream connections of one worker. */
export class Connector {
  readonly wheel: TimerWheel
  readonly transports: PlainTransports
  /** To destinations that clients have chosen. */
  readonly chosenIdle: IdleConnections = new IdleConnections()
  readonly #budgets = new ConnectionBudgets()
  readonly #names: Names
  readonly #forwardRules: PoolSettings['forwardRules']
  readonly #connected: PoolSettings['connected']
  readonly #exhausted: PoolSettings['exhausted']

  constructor({ wheel, lookup, transports, forwardRules, connected, exhausted }: ConnectorSettings) {
    this.wheel = wheel
    this.transports = transports
    this.#connected = connected
    this.#exhausted = exhausted
    this.#names = new Names(wheel, lookup)
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
    // Of a tunnel, the client chooses the far end, which its proxy server dials.
    const isChosen = destination.chosenByClient === true && tunnel === undefined
    const refuse: DialOptions['refuse'] = (address, port) =>
      isChosen ? rules.refuse(address, port) : rules.refuseConfigured(address, port)
    const all = { ...options, wheel: this.wheel, names: this.#names, done, refuse, gone: this.#giverOf(destination) }
    return tunnel === undefined
      ? new Dial(destination, context, all)
      : new TunnelDial(destination, tunnel, context, all)
  }

  /** It lasts as long as the connection, so it keeps nothing else in memory. */
  #giverOf(destination: Destination): () => void {
    return () => this.#budgets.give(destination)
  }
}

function transportOf({ tls, tunnel }: Destination): ConnectTransport {
  if (tunnel !== undefined) return tls === undefined ? 'tunnel' : 'tunnel-tls'
  return tls === undefined ? 'plaintext' : 'tls'
}
