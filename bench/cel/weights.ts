/**
 * Nanoseconds per step of the expression budget, with expensive data, and how long an expression can block a worker until its budget is
 * exhausted. Watch the last two columns: the first should be about 1, the second about the budget.
 */
import { type Budget, compile, createEnvironment, fromJson, WHOLE_BUDGET } from '#cel/index.ts'
import { WEIGHT_CASES, type WeightCase } from './weight-cases.ts'

/** The default limit of a body. */
const LARGEST = 2 * 1024 * 1024
const SIZES = [256, 65_536, LARGEST]
const ROUNDS = 3
/** Short evaluations are repeated for at least this time, because the clock is not precise enough. */
const SHORT_MS = 0.5

interface Data {
  readonly text: string
  readonly bytes: Uint8Array
  readonly parsed: unknown
}

const encoder = new TextEncoder()
const budget: Budget = { left: 0 }

const environment = createEnvironment<Data>({
  variables: [
    { path: 't', type: 'string', read: ({ text }) => text },
    { path: 'b', type: 'bytes', read: ({ bytes }) => bytes },
    { path: 'd', type: 'dyn', read: ({ parsed }) => fromJson(parsed) },
  ],
  budgetOf: () => budget,
})

interface Measured {
  readonly ms: number
  readonly steps: number
}

/** Processor time of this thread only. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The fastest of several rounds, because disturbances only add time. */
function measure(run: (data: Data) => unknown, data: Data, steps: number): Measured {
  let best = Number.POSITIVE_INFINITY
  let taken = 0
  for (let round = 0; round < ROUNDS; round++) {
    let times = 0
    let elapsed = 0
    const start = threadMs()
    do {
      budget.left = steps
      run({ ...data, bytes: data.bytes.slice() })
      times++
      elapsed = threadMs() - start
    } while (elapsed < SHORT_MS)
    taken = steps - budget.left
    best = Math.min(best, elapsed / times)
  }
  return { ms: best, steps: taken }
}

function dataOf({ text }: WeightCase, size: number): Data {
  const made = text(size)
  return { text: made, bytes: encoder.encode(made), parsed: parsedOrNull(made) }
}

function parsedOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

interface Row {
  readonly name: string
  readonly size: number
  readonly nsPerStep: number
  readonly heldMs: number
}

/** The size with the slowest step, and the longest time until the whole budget was exhausted. */
function rowOf(weightCase: WeightCase): Row {
  const { program, problems } = compile(weightCase.expression, environment)
  if (program === undefined) throw new Error(`${weightCase.name}: ${problems[0]?.message}`)
  let [size, nsPerStep, heldMs] = [0, 0, 0]
  for (const next of SIZES) {
    const { ms, steps } = measure(program.evaluate, dataOf(weightCase, next), WHOLE_BUDGET)
    if (ms > heldMs) heldMs = ms
    // An expression that takes nearly no time cannot block a worker, whatever its cost per step.
    if (ms < 0.02 || (ms * 1e6) / steps < nsPerStep) continue
    nsPerStep = (ms * 1e6) / steps
    size = next
  }
  return { name: weightCase.name, size, nsPerStep, heldMs }
}

export function printWeights(filter: string): void {
  const rows = WEIGHT_CASES.filter(({ name }) => name.includes(filter)).map(rowOf)
  console.log('case                                at size   ns/step   held ms')
  for (const { name, size, nsPerStep, heldMs } of rows.toSorted((a, b) => b.heldMs - a.heldMs)) {
    const cells = [String(size).padStart(10), nsPerStep.toFixed(2).padStart(10), heldMs.toFixed(1).padStart(10)]
    console.log(name.padEnd(33) + cells.join(''))
  }
}
