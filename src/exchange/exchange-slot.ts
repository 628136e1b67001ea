/**
 * State of one policy for one request between its steps. Only that policy can read it, and it ends with the request. A slot is created when
 * the policy is compiled.
 */
export class ExchangeSlot<Value> {
  readonly initial: Value

  constructor(initial: Value) {
    this.initial = initial
  }
}

/** The non-empty slots of one exchange. */
export class ExchangeSlots {
  readonly #values = new Map<ExchangeSlot<unknown>, unknown>()

  get<Value>(slot: ExchangeSlot<Value>): Value {
    // Only `set` with the same slot stores a value here.
    return this.#values.has(slot) ? (this.#values.get(slot) as Value) : slot.initial
  }

  set<Value>(slot: ExchangeSlot<Value>, value: Value): void {
    this.#values.set(slot, value)
  }
}
