import type { ServerStream } from '#net/stream.ts'

/** A request whose response is a stream; see `InFlight`. */
interface Streaming {
  readonly stream: ServerStream
  readonly responded: boolean
  readonly ended: boolean
  readonly abort: AbortController | undefined
}

/**
 * The streams of notifications of a worker. They would never end, so they end when the worker drains, and their clients connect to another
 * one. Each costs one entry: a listener on the signal would cost several objects.
 */
export class EndlessStreams {
  readonly #draining: AbortSignal
  readonly #flights = new Set<Streaming>()

  /** @param draining aborted when the worker begins to drain */
  constructor(draining: AbortSignal) {
    this.#draining = draining
    draining.addEventListener('abort', () => this.#endAll(), { once: true })
  }

  get size(): number {
    return this.#flights.size
  }

  add(flight: Streaming): void {
    if (this.#draining.aborted) endStream(flight)
    else if (!flight.ended) this.#flights.add(flight)
  }

  /** The request is over. Other requests may be given. */
  delete(flight: Streaming): void {
    this.#flights.delete(flight)
  }

  #endAll(): void {
    for (const flight of this.#flights) endStream(flight)
  }
}

function endStream(flight: Streaming): void {
  if (flight.ended) return
  // A policy may still process the head.
  if (flight.responded) flight.stream.response.end()
  flight.abort?.abort()
}
