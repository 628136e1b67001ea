/** Tries the properties of the expression language on random expressions. Argument: seconds (default 60). */
import fc from 'fast-check'
import { PROPERTIES } from '#test/conformance/cel/properties.ts'

const seconds = Number(process.argv[2] ?? '60')
if (!(seconds > 0)) throw new Error('usage: fuzz.ts [seconds]')

const RUNS_PER_TURN = 500
/** One input that takes longer is a finding of its own. */
const SLOW_MS = 2000

const end = performance.now() + seconds * 1000
let runs = 0
while (performance.now() < end && process.exitCode !== 1) {
  for (const { name, property } of PROPERTIES) {
    const started = performance.now()
    const details = fc.check(property, {
      numRuns: RUNS_PER_TURN,
      interruptAfterTimeLimit: SLOW_MS * 10,
      markInterruptAsFailure: true,
    })
    runs += details.numRuns
    if (!details.failed) continue
    console.error(
      `${name} (${Math.round(performance.now() - started)} ms, seed ${details.seed}, path ${details.counterexamplePath})`,
    )
    console.error(details.counterexample, details.errorInstance)
    process.exitCode = 1
  }
}
console.log(`${runs} runs, ${process.exitCode === 1 ? 'FAILED' : 'nothing found'}`)
