/**
 * What one policy keeps of a request between its steps. Nobody else can read it, and it goes with the request. A slot is made when the
 * policy is compiled.
 */
export class ExchangeSlot<Value> {
  readonly initial: Value

  constructor(initial: Value) {
    this.initial = initial
  }
}

/** The slots of one exchange that are not empty. */
export class ExchangeSlots {
  readonly #values = new Map<ExchangeSlot<unknown>, unknown>()

  get<Value>(slot: ExchangeSlot<Value>): Value {
    // Only `set` with the same slot puts something there.
    return this.#values.has(slot) ? (this.#values.get(slot) as Value) : slot.initial
  }

  set<Value>(slot: ExchangeSlot<Value>, value: Value): void {
    this.#values.set(slot, value)
  }
}
