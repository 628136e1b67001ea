import { Allowance } from '#base/allowance.ts'
import { clock } from '#base/clock.ts'
import type { MessageReceiver } from '#net/grpc/message-bodies.ts'
import type { Abort, ServerStream } from '#net/stream.ts'
import type { Refusal } from '#plan/plan-link.ts'
import { type DiscoveryRequest, decodeRequest, encodeResponse } from './discovery-messages.ts'
import type { GatewayPlan, GatewayPlans, ResourceChange } from './gateway-plans.ts'
import { ENDPOINTS_TYPE, ITEM_TYPE, PLAN_TYPES, type PlanType } from './plan-resource.ts'
import { type ProxyReport, readRefusals, readReport } from './proxy-report.ts'
import { ServedStream, type StreamEnd } from './served-stream.ts'
import { Subscription } from './subscription.ts'

/** Requests that a proxy may send at once, and per second. Acknowledgements count. */
const MAX_REQUESTS = 500
const REQUESTS_PER_SECOND = 50

/** How long a proxy may take for the acknowledgement of a response. */
const ACKNOWLEDGE_MS = 60_000

const NONE: readonly never[] = []

/** Why a proxy can ask for the plan of a Gateway. */
export interface Admission {
  /** Key of the Gateway: `Gateway/<namespace>/<name>`. */
  readonly gateway: string
  /** The proxy, for reports: the name of its pod. */
  readonly identity: string
  /** Milliseconds since the epoch at which its credential ends; undefined: never. */
  readonly expiresMs?: number
}

/** What the server knows about a connected proxy. */
export interface ServedProxy extends Admission {
  readonly address: string
  /** It has acknowledged all that its Gateway uses. */
  readonly isCurrent: boolean
  /** The newest version of the plan that is in force there; 0: none that this server knows. */
  readonly inForce: number
  /** What it refused of the last response with items, or with endpoints. */
  readonly refusals: readonly Refusal[]
  /** Undefined: it has not reported yet. */
  readonly report: ProxyReport | undefined
  /** It is connected to another replica, which passes its reports on. */
  readonly isForwarded: boolean
}

export interface ProxyStreamOwner {
  readonly plans: GatewayPlans
  changed(proxy: ProxyStream): void
  /** Called once. */
  ended(proxy: ProxyStream, why: string): void
}

/** One stream of a proxy that was admitted. */
export class ProxyStream implements ServedProxy, MessageReceiver {
  readonly gateway: string
  readonly identity: string
  readonly address: string
  readonly isForwarded = false
  refusals: readonly Refusal[] = NONE
  report: ProxyReport | undefined
  readonly #owner: ProxyStreamOwner
  readonly #stream: ServedStream
  readonly #plan: GatewayPlan
  readonly #subscriptions = new Map<PlanType, Subscription>()
  readonly #refused = new Map<PlanType, readonly Refusal[]>()
  readonly #requests = new Allowance(MAX_REQUESTS, REQUESTS_PER_SECOND)
  readonly #age: { cancel(): void }
  #acknowledge: { cancel(): void } | undefined
  #nonce = 0
  #isOver = false

  /** @param ends after which time, and why, the stream ends by itself */
  constructor(
    stream: ServerStream,
    admission: Admission,
    ends: { readonly ms: number } & StreamEnd,
    owner: ProxyStreamOwner,
  ) {
    this.gateway = admission.gateway
    this.identity = admission.identity
    this.address = stream.peer.remoteAddress
    this.#owner = owner
    this.#plan = owner.plans.watch(this.gateway, this.#changed)
    this.#age = clock.after(ends.ms, () => this.end(ends))
    this.#stream = new ServedStream(stream, this, () => this.#readsOn())
    this.#stream.read()
  }

  get isCurrent(): boolean {
    return PLAN_TYPES.every((type) => this.#subscriptions.get(type)?.isCurrent === true)
  }

  get inForce(): number {
    const hash = this.report?.inForce
    return hash === undefined ? 0 : this.#plan.versionOf(hash)
  }

  /** Ends the stream with a status. The proxy keeps what it has, and connects again. */
  end(end: StreamEnd): void {
    if (this.#isOver) return
    this.#over(end.message)
    this.#stream.end(end)
  }

  /** The connection has closed. */
  closed(why: Abort): void {
    this.#over(`the connection ended: ${why}`)
  }

  // What the proxy sends.

  message(bytes: Uint8Array): void {
    if (!this.#requests.take()) return this.end({ status: 'resourceExhausted', message: 'too many requests' })
    const decoded = decodeRequest(bytes)
    if ('fault' in decoded) return this.malformed(decoded.fault)
    const { message: request } = decoded
    const { typeUrl = '' } = request
    const type = PLAN_TYPES.find((known) => known === typeUrl)
    if (type === undefined)
      return this.end({
        status: 'invalidArgument',
        message: `this server has no resources of that type; it has ${PLAN_TYPES.join(' and ')}`,
      })
    this.#asked(type, request)
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

  #asked(type: PlanType, { node, responseNonce = '', initialVersions, errorDetail }: DiscoveryRequest): void {
    const subscription = this.#subscriptions.get(type)
    const metadata = node?.metadata
    if (metadata !== undefined) this.report = readReport(metadata)
    let isNews = metadata !== undefined
    if (subscription === undefined) {
      this.#subscriptions.set(type, new Subscription(type, this.#plan, initialVersions ?? new Map()))
    } else if (responseNonce !== '' && subscription.answered(responseNonce)) {
      this.#refused.set(type, errorDetail === undefined ? NONE : readRefusals(errorDetail.message ?? ''))
      this.refusals = [...this.#refused.values()].flat()
      this.#rearm()
      isNews = true
    }
    this.#send()
    if (isNews) this.#owner.changed(this)
  }

  readonly #changed = (changed: readonly ResourceChange[]): void => {
    for (const change of changed) this.#subscriptions.get(change.type)?.changed(change)
    this.#send()
  }

  /** Meanwhile, the plan may have become what the proxy has. */
  #readsOn(): void {
    this.#send()
    this.#owner.changed(this)
  }

  /**
   * Sends what the proxy lacks. Endpoints come before the items that use them, and go after the last item that used them, so that no request
   * finds a backend without its endpoints.
   */
  #send(): void {
    const items = this.#subscriptions.get(ITEM_TYPE)
    const endpoints = this.#subscriptions.get(ENDPOINTS_TYPE)
    for (const type of PLAN_TYPES) {
      const subscription = this.#subscriptions.get(type)
      if (this.#isOver || this.#stream.backed || subscription === undefined) continue
      const isItems = subscription === items
      if (isItems && endpoints?.lacksAny === true) continue
      const keepsRemoved = !isItems && items !== undefined && !items.isCurrent
      const response = subscription.next(String(this.#nonce + 1), keepsRemoved)
      if (response === undefined) continue
      this.#nonce++
      this.#stream.send(encodeResponse(response))
      this.#rearm()
    }
  }

  #rearm(): void {
    this.#acknowledge?.cancel()
    this.#acknowledge = undefined
    if (this.#isOver || ![...this.#subscriptions.values()].some(({ waits }) => waits)) return
    this.#acknowledge = clock.after(ACKNOWLEDGE_MS, () => this.#tooSlow())
  }

  /** A client that does not read would not get a status either. */
  #tooSlow(): void {
    if (!this.#stream.backed)
      return this.end({ status: 'deadlineExceeded', message: 'a response was not acknowledged' })
    this.#over('it did not read')
    this.#stream.abort()
  }

  #over(why: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#age.cancel()
    this.#acknowledge?.cancel()
    this.#owner.plans.unwatch(this.gateway, this.#changed)
    this.#owner.ended(this, why)
  }
}
