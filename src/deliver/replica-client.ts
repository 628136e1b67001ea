import { BackOff } from '#base/back-off.ts'
import { clock } from '#base/clock.ts'
import type { Level } from '#base/log-levels.ts'
import { grpcAccess } from '#net/grpc/grpc-access.ts'
import { GrpcStream } from '#net/grpc/grpc-stream.ts'
import { createClientPool } from '#net/pool/client-pool.ts'
import type { LogFields } from '#observe/log/application-log.ts'
import { encodeForwarded, REPORTS_METHOD } from './forwarded-report.ts'
import type { ServedProxy } from './proxy-stream.ts'

const FIRST_RETRY_MS = 100
const LONGEST_RETRY_MS = 2000

/** How replicas of one controller reach each other. */
export interface ReplicaCredentials {
  /** The authority of their servers, in PEM. */
  readonly authority: string
  /** The host name in the certificate of all of them. */
  readonly serverName: string
  /** See `replicaToken`. */
  readonly token: string
}

export interface ReplicaClientOptions extends ReplicaCredentials {
  readonly log: (level: Level, message: string, fields: LogFields) => void
  /** From 0 to 1. */
  readonly random?: () => number
}

/** Passes on to the leading replica what the proxies of this one report. A new leader, and a new connection, get all of it. */
export class ReplicaClient {
  readonly #options: ReplicaClientOptions
  #credentials: ReplicaCredentials
  readonly #pool = createClientPool()
  /** Those that are connected to this replica, by name. */
  readonly #proxies = new Map<string, ServedProxy>()
  /** Names of those whose last state was not sent yet. */
  readonly #news = new Set<string>()
  #backOff = new BackOff(FIRST_RETRY_MS, LONGEST_RETRY_MS)
  #leader: string | undefined
  #stream: GrpcStream | undefined
  #retry: { cancel(): void } | undefined
  #cause: string | undefined

  constructor(options: ReplicaClientOptions) {
    this.#options = options
    this.#credentials = options
  }

  /** New connections use these. */
  renew(credentials: ReplicaCredentials): void {
    this.#credentials = credentials
  }

  /** @param leader URL of the server of the leader; undefined: it is this replica, or not known */
  follow(leader: string | undefined): void {
    if (leader === this.#leader) return
    this.#leader = leader
    this.#retry?.cancel()
    this.#cause = undefined
    this.#backOff = new BackOff(FIRST_RETRY_MS, LONGEST_RETRY_MS, this.#options.random)
    const stream = this.#stream
    this.#stream = undefined
    stream?.cancel('another replica leads')
    this.#connect()
  }

  changed(proxy: ServedProxy): void {
    this.#proxies.set(proxy.identity, proxy)
    this.#tell(proxy.identity)
  }

  left(proxy: ServedProxy): void {
    // It may have connected again before.
    if (this.#proxies.get(proxy.identity) !== proxy) return
    this.#proxies.delete(proxy.identity)
    this.#tell(proxy.identity)
  }

  close(): void {
    this.follow(undefined)
    this.#pool.close()
  }

  #tell(identity: string): void {
    if (this.#stream === undefined) return
    this.#news.add(identity)
    this.#flush()
  }

  #connect(): void {
    const { authority: ca, serverName, token } = this.#credentials
    this.#news.clear()
    if (this.#leader === undefined) return
    const stream: GrpcStream = new GrpcStream(
      this.#pool,
      grpcAccess(new URL(this.#leader), { ca, serverName, token }),
      REPORTS_METHOD,
      {
        message: () => {},
        drained: () => this.#flush(),
        over: (why) => this.#over(stream, why ?? 'the leader ended the stream'),
      },
    )
    this.#stream = stream
    for (const identity of this.#proxies.keys()) this.#news.add(identity)
    this.#flush()
  }

  #flush(): void {
    for (const identity of this.#news) {
      if (this.#stream === undefined || this.#stream.backed) return
      this.#news.delete(identity)
      this.#stream.send(encodeForwarded({ identity, state: this.#proxies.get(identity) }))
    }
  }

  #over(stream: GrpcStream, cause: string): void {
    if (stream !== this.#stream) return
    this.#stream = undefined
    if (cause !== this.#cause)
      this.#options.log('warn', 'the leader does not get what proxies report', { controller: this.#leader, cause })
    this.#cause = cause
    this.#retry = clock.after(this.#backOff.next(), () => this.#connect())
  }
}
