import type { MessageReceiver } from '#net/grpc/message-bodies.ts'
import type { Abort, ServerStream } from '#net/stream.ts'
import { decodeForwarded, type ForwardedState } from './forwarded-report.ts'
import type { GatewayPlan, GatewayPlans } from './gateway-plans.ts'
import type { ServedProxy } from './proxy-stream.ts'
import { ServedStream, type StreamEnd } from './served-stream.ts'

export interface ReplicaStreamOwner {
  readonly plans: GatewayPlans
  changed(proxy: ServedProxy): void
  left(proxy: ServedProxy, why: string): void
  /** Called once, after all its proxies have left. */
  replicaEnded(stream: ReplicaStream): void
}

/** The stream of another replica, which passes on what its proxies report. The proxies leave with the stream. */
export class ReplicaStream implements MessageReceiver {
  readonly #owner: ReplicaStreamOwner
  readonly #stream: ServedStream
  /** By name. */
  readonly #proxies = new Map<string, ForwardedProxy>()
  #isOver = false

  constructor(stream: ServerStream, owner: ReplicaStreamOwner) {
    this.#owner = owner
    this.#stream = new ServedStream(stream, this, () => {})
    this.#stream.read()
  }

  end(end: StreamEnd): void {
    if (this.#isOver) return
    this.closed(end.message)
    this.#stream.end(end)
  }

  /** The connection has ended. */
  closed(why: string): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const identity of [...this.#proxies.keys()]) this.#leave(identity, `its replica: ${why}`)
    this.#owner.replicaEnded(this)
  }

  // What the replica sends.

  message(bytes: Uint8Array): void {
    const decoded = decodeForwarded(bytes)
    if ('fault' in decoded) return this.malformed(decoded.fault)
    const { identity, state } = decoded.message
    const known = this.#proxies.get(identity)
    if (known !== undefined && known.gateway !== state?.gateway) this.#leave(identity, 'it has left another replica')
    if (state === undefined) return
    let proxy = this.#proxies.get(identity)
    if (proxy === undefined) {
      proxy = new ForwardedProxy(identity, state, this.#owner)
      this.#proxies.set(identity, proxy)
    }
    proxy.take(state)
  }

  malformed(fault: string): void {
    this.end({ status: 'invalidArgument', message: fault })
  }

  ended(): void {
    this.end({ status: 'ok', message: '' })
  }

  aborted(why: Abort): void {
    this.closed(why)
  }

  #leave(identity: string, why: string): void {
    const proxy = this.#proxies.get(identity)!
    this.#proxies.delete(identity)
    proxy.close()
    this.#owner.left(proxy, why)
  }
}

/** A proxy that is connected to another replica. */
class ForwardedProxy implements ServedProxy {
  readonly identity: string
  readonly gateway: string
  readonly isForwarded = true
  readonly #owner: ReplicaStreamOwner
  readonly #plan: GatewayPlan
  #state: ForwardedState
  /** The version that `changed` was last called with. */
  #told = 0
  #isOver = false

  constructor(identity: string, state: ForwardedState, owner: ReplicaStreamOwner) {
    this.identity = identity
    this.gateway = state.gateway
    this.#state = state
    this.#owner = owner
    this.#plan = owner.plans.watch(this.gateway, this.#planChanged)
  }

  get address(): string {
    return this.#state.address
  }

  get refusals() {
    return this.#state.refusals
  }

  get report() {
    return this.#state.report
  }

  get isCurrent(): boolean {
    return this.inForce === this.#owner.plans.version
  }

  /** Versions count the changes in one process; the contents of a plan, which the report names by their hash, are the same in all. */
  get inForce(): number {
    const hash = this.report?.inForce
    return hash === undefined ? 0 : this.#plan.versionOf(hash)
  }

  take(state: ForwardedState): void {
    this.#state = state
    this.#tell()
  }

  close(): void {
    this.#isOver = true
    this.#owner.plans.unwatch(this.gateway, this.#planChanged)
  }

  /** The other replica, and its proxies, can have a version before this one has it. */
  readonly #planChanged = (): void => {
    if (this.inForce > this.#told) setImmediate(() => this.#tell())
  }

  #tell(): void {
    if (this.#isOver) return
    this.#told = this.inForce
    this.#owner.changed(this)
  }
}
