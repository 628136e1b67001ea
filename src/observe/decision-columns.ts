import type { KeptDecision } from './decision.ts'
import type { Passed, PassedPhase } from './passage.ts'

// Numbers of a decision.
const NUMBER = 0
const TIME = 1
const CLIENT_PORT = 2
const STATUS = 3
const START = 4
const DURATION = 5
const SENT = 6
const ANSWERED = 7
/** Of each phase. */
const REACHED = 8

/** Those of `Passed`. */
const PHASES = 3
/** Of the policies of all phases together; the phases of longer ones are kept as they are. */
const TIMES = 24
const FIRST_TIME = REACHED + PHASES
const NUMBERS = FIRST_TIME + TIMES

// What else it has.
const METHOD = 0
const AUTHORITY = 1
const TARGET = 2
const REDACTED_PARAMETERS = 3
const CLIENT_ADDRESS = 4
const NAMES = 5
const ENDPOINT = 6
const SECTION = 7
const CONSUMER = 8
const REASON = 9
const RARE = 10
/** Phases whose times do not fit. */
const LONG_PASSED = 11
/** The policies of each phase. */
const POLICIES = 12
const VALUES = POLICIES + PHASES

/**
 * Decisions in memory that is reused. An object for each would outlive the next collections of the garbage collector, which then copies it twice. Here
 * the numbers are no objects, and nearly all values are parts of the configuration or of a connection.
 */
export class DecisionColumns {
  readonly #numbers: Float64Array
  readonly #values: unknown[]

  /** @param capacity in decisions */
  constructor(capacity: number) {
    this.#numbers = new Float64Array(capacity * NUMBERS)
    this.#values = new Array<unknown>(capacity * VALUES).fill(undefined)
  }

  write(slot: number, decision: KeptDecision): void {
    const numbers = this.#numbers
    const number = slot * NUMBERS
    numbers[number + NUMBER] = decision.number
    numbers[number + TIME] = decision.timeMs
    numbers[number + CLIENT_PORT] = decision.clientPort
    numbers[number + STATUS] = decision.status
    numbers[number + START] = decision.startMonotonicMs
    numbers[number + DURATION] = decision.durationMs
    numbers[number + SENT] = decision.sentMs ?? Number.NaN
    numbers[number + ANSWERED] = decision.answeredMs ?? Number.NaN
    const values = this.#values
    const value = slot * VALUES
    values[value + METHOD] = decision.method
    values[value + AUTHORITY] = decision.authority
    values[value + TARGET] = decision.target
    values[value + REDACTED_PARAMETERS] = decision.redactedParameters
    values[value + CLIENT_ADDRESS] = decision.clientAddress
    values[value + NAMES] = decision.names
    values[value + ENDPOINT] = decision.endpoint
    values[value + SECTION] = decision.section
    values[value + CONSUMER] = decision.consumer
    values[value + REASON] = decision.reason
    values[value + RARE] = decision.rare
    const { passed } = decision
    values[value + LONG_PASSED] = this.#writePassed(number, value, passed) ? undefined : phasesOf(passed)
  }

  /** The number of the decision, without reading the rest of it. */
  numberAt(slot: number): number {
    return this.#numbers[slot * NUMBERS + NUMBER]!
  }

  read(slot: number): KeptDecision {
    const numbers = this.#numbers.subarray(slot * NUMBERS, (slot + 1) * NUMBERS)
    const values = this.#values.slice(slot * VALUES, (slot + 1) * VALUES)
    return {
      number: numbers[NUMBER]!,
      timeMs: numbers[TIME]!,
      method: values[METHOD] as string,
      authority: values[AUTHORITY] as string,
      target: values[TARGET] as string,
      redactedParameters: values[REDACTED_PARAMETERS] as KeptDecision['redactedParameters'],
      clientAddress: values[CLIENT_ADDRESS] as string,
      clientPort: numbers[CLIENT_PORT]!,
      names: values[NAMES] as KeptDecision['names'],
      endpoint: values[ENDPOINT] as string,
      section: values[SECTION] as string,
      consumer: values[CONSUMER] as string,
      status: numbers[STATUS]!,
      reason: values[REASON] as string,
      startMonotonicMs: numbers[START]!,
      passed: (values[LONG_PASSED] as Passed | undefined) ?? readPassed(numbers, values),
      durationMs: numbers[DURATION]!,
      sentMs: known(numbers[SENT]!),
      answeredMs: known(numbers[ANSWERED]!),
      rare: values[RARE] as KeptDecision['rare'],
    }
  }

  /** @returns whether the times fit */
  #writePassed(number: number, value: number, { preProgress, postProgress, backendProgress }: Passed): boolean {
    const before = preProgress.timesMs.length
    const after = before + postProgress.timesMs.length
    if (after + backendProgress.timesMs.length > TIMES) return false
    this.#writePhase(0, number, value, 0, preProgress)
    this.#writePhase(1, number, value, before, postProgress)
    this.#writePhase(2, number, value, after, backendProgress)
    return true
  }

  #writePhase(phase: number, number: number, value: number, from: number, passed: PassedPhase): void {
    const { policies, reached, timesMs } = passed
    this.#values[value + POLICIES + phase] = policies
    this.#numbers[number + REACHED + phase] = reached
    const first = number + FIRST_TIME + from
    for (let i = 0; i < timesMs.length; i++) this.#numbers[first + i] = timesMs[i]!
  }
}

/** Without what else a request met. */
function phasesOf({ preProgress, postProgress, backendProgress }: Passed): Passed {
  return { preProgress, postProgress, backendProgress }
}

function readPassed(numbers: Float64Array, values: readonly unknown[]): Passed {
  let time = FIRST_TIME
  const [preProgress, postProgress, backendProgress] = Array.from({ length: PHASES }, (_, phase): PassedPhase => {
    const policies = values[POLICIES + phase] as PassedPhase['policies']
    const start = time
    if (policies !== undefined) time += policies.length + 1
    return { policies, reached: numbers[REACHED + phase]!, timesMs: [...numbers.subarray(start, time)] }
  })
  return { preProgress: preProgress!, postProgress: postProgress!, backendProgress: backendProgress! }
}

function known(ms: number): number | undefined {
  return Number.isNaN(ms) ? undefined : ms
}
