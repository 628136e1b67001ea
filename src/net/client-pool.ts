import { Http1Pool } from './http1/client-pool.ts'
import type { Head } from './http1/head.ts'
import type { PoolSettings } from './pool-settings.ts'
import { RawConnection } from './raw-connection.ts'
import type { ClientHandler, ClientPool, ClientStream, ConnectHandler, Destination, Framing } from './stream.ts'
import { workerWheel } from './timer-wheel.ts'

const DEFAULTS: PoolSettings = { idleTimeoutMs: 90_000, maxIdle: 512, wheel: workerWheel }

/** A pool of connections in both versions of HTTP; see `ClientPool`. */
export function createClientPool(settings: Partial<PoolSettings> = {}): ClientPool {
  return new Pool({ ...DEFAULTS, ...settings })
}

class Pool implements ClientPool {
  readonly #settings: PoolSettings
  readonly #http1: Http1Pool

  constructor(settings: PoolSettings) {
    this.#settings = settings
    this.#http1 = new Http1Pool(settings)
  }

  send(
    destination: Destination,
    head: Head,
    framing: Framing,
    responseTimeoutMs: number,
    handler: ClientHandler,
    context: unknown,
  ): ClientStream {
    return this.#http1.send(destination, head, framing, responseTimeoutMs, handler, context)
  }

  connect(destination: Destination, handler: ConnectHandler, context: unknown): ClientStream {
    const connection = new RawConnection(handler, context)
    connection.dial(destination, this.#settings.wheel)
    return connection
  }

  close(): void {
    this.#http1.close()
  }
}
