import { BodyMemory } from '../body/body-memory.ts'
import { Connector } from '../connect/connector.ts'
import { ForwardRules } from '../connect/forward-rules.ts'
import type { PoolSettings } from '../connect/pool-settings.ts'
import { createLookup, systemSources } from '../connect/system-lookup.ts'
import type { Destination } from '../destination.ts'
import type { Head } from '../http/head.ts'
import { Http1Pool } from '../http1/client-pool.ts'
import { Http2Pool } from '../http2/client-pool.ts'
import { RawConnection } from '../relay/raw-connection.ts'
import type { ClientHandler, ClientPool, ClientStream, ConnectHandler, Framing } from '../stream.ts'
import { workerWheel } from '../timer-wheel.ts'
import { STREAM_TRANSPORTS } from '../transport/stream-transports.ts'
import { Negotiation } from './negotiation.ts'

const DEFAULTS: Omit<PoolSettings, 'bodyMemory'> = {
  idleTimeoutMs: 90_000,
  maxIdle: 512,
  wheel: workerWheel,
  lookup: createLookup(systemSources()),
  mesh: { material: undefined },
  forwardRules: new ForwardRules(),
  transports: STREAM_TRANSPORTS,
  connected: () => {},
  exhausted: () => {},
}

/** Creates a pool of HTTP/1 and HTTP/2 connections; see `ClientPool`. */
export function createClientPool(settings: Partial<PoolSettings> = {}): ClientPool {
  return new Pool({ ...DEFAULTS, bodyMemory: new BodyMemory(Number.POSITIVE_INFINITY), ...settings })
}

class Pool implements ClientPool {
  readonly http1: Http1Pool
  readonly http2: Http2Pool
  readonly connector: Connector
  readonly #negotiations = new WeakMap<Destination, Negotiation>()

  constructor(settings: PoolSettings) {
    this.connector = new Connector(settings)
    this.http1 = new Http1Pool(settings, this.connector)
    this.http2 = new Http2Pool(settings, this.connector)
  }

  send(
    destination: Destination,
    head: Head,
    framing: Framing,
    responseTimeoutMs: number,
    handler: ClientHandler,
    context: unknown,
  ): ClientStream {
    switch (destination.http) {
      case 'http2':
        return this.http2.send(destination, head, framing, responseTimeoutMs, handler, context)
      case 'negotiated':
        return this.#negotiation(destination).send(head, framing, responseTimeoutMs, handler, context)
      default:
        return this.http1.send(destination, head, framing, responseTimeoutMs, handler, context)
    }
  }

  connect(destination: Destination, handler: ConnectHandler, context: unknown): ClientStream {
    const connection = new RawConnection(handler, context)
    connection.dial(destination, this.connector)
    return connection
  }

  close(): void {
    this.http1.close()
    this.http2.close()
    this.connector.close()
  }

  #negotiation(destination: Destination): Negotiation {
    const known = this.#negotiations.get(destination)
    if (known !== undefined) return known
    const negotiation = new Negotiation(this, destination)
    this.#negotiations.set(destination, negotiation)
    return negotiation
  }
}
