/**
 * Tries the properties of the expression language on random and damaged expressions.
 * Usage: fuzz.ts [seconds] [seed]
 */
import fc from 'fast-check'
import { PROPERTIES } from '#test/conformance/cel/properties.ts'

const seconds = Number(process.argv[2] ?? '60')
let seed = Number(process.argv[3] ?? Date.now() % 2 ** 31)
if (!(seconds > 0) || !Number.isInteger(seed)) throw new Error('usage: fuzz.ts [seconds] [seed]')

const RUNS_PER_TURN = 500
/** Maximum time of one iteration; a longer one has found a slow input. */
const MAX_TURN_MS = 20_000

console.log(`seed ${seed}`)
const end = performance.now() + seconds * 1000
let runs = 0
while (performance.now() < end && process.exitCode !== 1) {
  for (const { name, property } of PROPERTIES) {
    const limits = { interruptAfterTimeLimit: MAX_TURN_MS, markInterruptAsFailure: true }
    const details = fc.check(property, { seed, numRuns: RUNS_PER_TURN, ...limits })
    runs += details.numRuns
    if (!details.failed) continue
    console.error(`${name}: seed ${details.seed}, path ${details.counterexamplePath}`)
    console.error(details.counterexample, details.errorInstance)
    process.exitCode = 1
  }
  seed = (seed + 1) | 0
}
console.log(`${runs} runs, ${process.exitCode === 1 ? 'FAILED' : 'nothing found'}`)
