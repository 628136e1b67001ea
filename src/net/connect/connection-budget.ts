import { DEFAULT_BOUNDS, type Destination } from '../destination.ts'

/** Has requests that wait until another connection may be opened. */
export interface RoomSeeker {
  /** Called when there may be room. A seeker that finds none must register again. */
  roomToConnect(): void
}

/** Counts the connections of this worker to one address, for all protocols. */
class ConnectionBudget {
  #open = 0
  readonly #seekers = new Set<RoomSeeker>()

  take(max: number, seeker?: RoomSeeker): boolean {
    if (this.#open < max) {
      this.#open++
      return true
    }
    if (seeker !== undefined) this.#seekers.add(seeker)
    return false
  }

  give(): void {
    this.#open--
    const seekers = [...this.#seekers]
    this.#seekers.clear()
    for (const seeker of seekers) seeker.roomToConnect()
  }

  get unused(): boolean {
    return this.#open === 0 && this.#seekers.size === 0
  }
}

/** The budgets of all addresses with connections. */
export class ConnectionBudgets {
  readonly #budgets = new Map<string, ConnectionBudget>()

  /** Counts a connection that is opened next. @returns false if the limit is reached; `seeker` is called when there may be room */
  take(destination: Destination, seeker?: RoomSeeker): boolean {
    const { maxConnections } = destination.bounds ?? DEFAULT_BOUNDS
    const key = addressOf(destination)
    let budget = this.#budgets.get(key)
    if (budget === undefined) {
      budget = new ConnectionBudget()
      this.#budgets.set(key, budget)
    }
    return budget.take(maxConnections, seeker)
  }

  /** A counted connection has closed. */
  give(destination: Destination): void {
    const key = addressOf(destination)
    const budget = this.#budgets.get(key)
    if (budget === undefined) throw new Error(`no connection to ${key} was counted`)
    budget.give()
    if (budget.unused) this.#budgets.delete(key)
  }
}

function addressOf({ host, port, unixPath }: Destination): string {
  return unixPath ?? `${host}:${port}`
}
