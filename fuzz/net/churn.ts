import { runChurn } from '#test/support/churn.ts'

// Usage: node fuzz/net/churn.ts [seconds]
// A gateway under load while endpoints come and go and certificates rotate.

const report = await runChurn(20 * Number(process.argv[2] ?? 60))
const { failed, leftInFlight } = report
const fine = failed.length === 0 && leftInFlight === 0
console.log(fine ? 'fine' : 'requests failed or something is left', { ...report, failed: failed.slice(0, 20) })
process.exit(fine ? 0 : 1)
