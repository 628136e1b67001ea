import type { Json } from '#base/json.ts'
import type { Call } from '#exchange/call.ts'
import type { GatewayIdentity } from '#exchange/gateway-identity.ts'
import type { OtlpTarget } from '#exchange/otlp-target.ts'
import { encodeExport, encodeResource } from './encode-export.ts'
import { exportOver } from './export-call.ts'
import { DROP_REASONS, type DropReason, ExportQueue, type ExportResult } from './export-queue.ts'
import { identityAttributes } from './identity-attributes.ts'

const MAX_IDLE_MS = 600_000

export interface ExportersOptions {
  /** As the gateway itself: exports belong to no request, so they are never traced. */
  readonly call: Call
  readonly version: string
  readonly gateway: GatewayIdentity
  /** 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number
  readonly delivered: (signal: OtlpTarget['signal'], items: number) => void
  readonly dropped: (signal: OtlpTarget['signal'], reason: DropReason, items: number) => void
  readonly failing: (target: OtlpTarget, cause: string) => void
  readonly resumed: (target: OtlpTarget) => void
}

/** The OTLP exports of one thread: a queue for each target that has waiting items. */
export class Exporters {
  readonly #options: ExportersOptions
  readonly #queues = new Map<string, ExportQueue>()

  constructor(options: ExportersOptions) {
    this.#options = options
  }

  /** Adds an encoded record or span to the queue of the target. Never waits and never throws. */
  add(target: OtlpTarget, item: Uint8Array): void {
    let queue = this.#queues.get(target.key)
    if (queue === undefined) {
      this.#removeIdle()
      queue = this.#open(target)
      this.#queues.set(target.key, queue)
    }
    queue.add(item)
  }

  /** Sends what waits. What is not delivered after `limitMs` is dropped. */
  async close(limitMs: number): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.close(limitMs)))
    this.#queues.clear()
  }

  /** Queues of targets that are probably no longer in the plan. Others keep what they know about their server. */
  #removeIdle(): void {
    for (const [key, queue] of this.#queues) if (queue.idleMs > MAX_IDLE_MS) this.#queues.delete(key)
  }

  #open(target: OtlpTarget): ExportQueue {
    const { call, version, delivered, dropped, failing, resumed, random } = this.#options
    const { signal: of } = target
    const resource = encodeResource(this.#attributesOf(target))
    const userAgent = `gatewright/${version}`
    // Only a counter that was 0 before shows its first loss as an increase.
    for (const reason of DROP_REASONS) dropped(of, reason, 0)
    const send = (items: readonly Uint8Array[], signal: AbortSignal): Promise<ExportResult> =>
      exportOver(call, { target, request: encodeExport(resource, version, items), userAgent, signal })
    const events = {
      send,
      delivered: (items: number) => delivered(of, items),
      dropped: (reason: DropReason, items: number) => dropped(of, reason, items),
      failing: (cause: string) => failing(target, cause),
      resumed: () => resumed(target),
    }
    return new ExportQueue(events, random)
  }

  /** The attributes of the configuration win over the default ones. */
  #attributesOf({ resource }: OtlpTarget): readonly (readonly [name: string, value: Json])[] {
    const { version, gateway } = this.#options
    const attributes = new Map<string, Json>(identityAttributes(version, gateway))
    for (const [name, value] of resource(gateway)) attributes.set(name, value)
    return [...attributes]
  }
}
