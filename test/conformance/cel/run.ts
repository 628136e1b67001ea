/** Runs the official conformance data of CEL and prints what fails, file by file, and the sums. */
import { type Outcome, runAll } from './suite.ts'

const byFile = Map.groupBy(runAll(), (outcome: Outcome) => outcome.file)
let passed = 0
let failed = 0
for (const [file, outcomes] of byFile) {
  const failures = outcomes.filter((outcome) => outcome.failure !== undefined)
  passed += outcomes.length - failures.length
  failed += failures.length
  console.log(`${file}: ${outcomes.length - failures.length} of ${outcomes.length}`)
  for (const { name, expr, failure } of failures) console.log(`  ${name}: ${expr.replace(/\s+/g, ' ')}\n    ${failure}`)
}
console.log(`${passed} passed, ${failed} failed`)
