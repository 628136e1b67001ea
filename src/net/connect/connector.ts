import type { Destination } from '../destination.ts'
import type { TimerWheel } from '../timer-wheel.ts'
import { ConnectionBudgets, type RoomSeeker } from './connection-budget.ts'
import { Dial, type DialContext, type DialOptions } from './dial.ts'
import { type Lookup, Names } from './names.ts'

/** Opens the upstream connections of one worker. */
export class Connector {
  readonly wheel: TimerWheel
  readonly #budgets = new ConnectionBudgets()
  readonly #names: Names

  constructor(wheel: TimerWheel, lookup: Lookup) {
    this.wheel = wheel
    this.#names = new Names(wheel, lookup)
  }

  /**
   * Counts a connection, which must be dialled next.
   * @returns false when the address has as many as it may; `seeker` is told when there may be room
   */
  reserve(destination: Destination, seeker?: RoomSeeker): boolean {
    return this.#budgets.take(destination, seeker)
  }

  /** Opens the connection that was reserved. */
  dial(
    destination: Destination,
    context: DialContext,
    options: Pick<DialOptions, 'onread' | 'halfOpen' | 'done'>,
  ): Dial {
    return new Dial(destination, context, {
      ...options,
      wheel: this.wheel,
      names: this.#names,
      gone: () => this.#budgets.give(destination),
    })
  }
}
