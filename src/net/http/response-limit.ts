import { WheelTimer } from '../timer-wheel.ts'

/** Has the timer wheel. */
export interface LimitKeeper {
  arm(timer: WheelTimer, ms: number): void
  disarm(timer: WheelTimer): void
}

/** The sending state of a request. */
export interface SentRequest {
  /** The body is not completely sent. */
  readonly open: boolean
  readonly sentBytes: number
}

/** Limits the time until the head of a response. */
export class ResponseLimit {
  readonly #keeper: LimitKeeper
  readonly #request: SentRequest
  readonly #expired: () => void
  readonly #timer = new WheelTimer(() => this.#fire())
  /** Limit since the last sent byte of the request, for `Framing.patient`; 0: not patient. */
  #patientMs = 0
  #sentBefore = 0

  constructor(keeper: LimitKeeper, request: SentRequest, expired: () => void) {
    this.#keeper = keeper
    this.#request = request
    this.#expired = expired
  }

  start(ms: number, patient: boolean): void {
    this.#patientMs = patient ? ms : 0
    this.#sentBefore = 0
    this.#keeper.arm(this.#timer, ms)
  }

  /** The request has been sent completely. */
  requestSent(): void {
    if (this.#patientMs !== 0) this.#keeper.arm(this.#timer, this.#patientMs)
  }

  stop(): void {
    this.#patientMs = 0
    this.#keeper.disarm(this.#timer)
  }

  #fire(): void {
    const { open, sentBytes } = this.#request
    if (this.#patientMs === 0 || !open || sentBytes === this.#sentBefore) return this.#expired()
    this.#sentBefore = sentBytes
    this.#keeper.arm(this.#timer, this.#patientMs)
  }
}
