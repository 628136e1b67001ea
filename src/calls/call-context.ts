import type { Call } from '#exchange/call.ts'
import type { GuardLoad } from '#exchange/guard-load.ts'
import type { LlmPrices } from '#exchange/llm-prices.ts'
import { NO_CLIENT, type RunContext, SYSTEM } from '#exchange/run-context.ts'

/** The services for policies of the destination of a call. No client waits for them. */
export class CallContext implements RunContext {
  readonly call: Call
  readonly signal: AbortSignal
  readonly random: () => number

  constructor(call: Call, signal: AbortSignal, random: () => number) {
    this.call = call
    this.signal = signal
    this.random = random
  }

  now(): number {
    return SYSTEM.now()
  }

  monotonic(): number {
    return SYSTEM.monotonic()
  }

  uuid(): string {
    return SYSTEM.uuid()
  }

  get callLater(): Call {
    return this.call
  }

  get callShared(): Call {
    return this.call
  }

  get callSections(): Call {
    return this.call
  }

  get prices(): LlmPrices {
    return NO_CLIENT.prices
  }

  get guardLoad(): GuardLoad {
    return NO_CLIENT.guardLoad
  }

  interrupt(): void {}

  whenOver(): void {}
}
