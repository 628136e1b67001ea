import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bundle } from '../../build/bundle.mjs'
import type { Measured } from './measure.ts'

const WORDS = process.argv.slice(2)
/** `served`: with the table of an API server, as with `--state`. */
const STORE = WORDS.includes('served') ? 'served' : 'files'
const SIZES = WORDS.filter((word) => word !== 'served').map(Number)
/** Gateways run from a bundle. */
const BUNDLE = '.cache/bench-config'
const MEASURE = fileURLToPath(new URL(`../../${BUNDLE}/measure.js`, import.meta.url))
/** The compile cache that `bin/gatewright` uses. */
const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/gatewright', import.meta.url))

/** Limits for 10,000 routes and 2,000 policies (bench/README.md). */
const BARS = { startMs: 3000, editMs: 50, endpointsMs: 10, residentMb: 400 } as const
const BAR_SIZE = 10_000

function measure(routes: number): Measured {
  const text = execFileSync(process.execPath, [MEASURE, `${routes}`, STORE], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { NODE_COMPILE_CACHE: COMPILED, ...process.env },
  })
  return JSON.parse(text) as Measured
}

function line(cells: readonly string[]): string {
  return cells.map((cell) => cell.padStart(14)).join('')
}

await bundle({ measure: 'bench/config/measure.ts', 'proxy-worker': 'src/workers/proxy-worker.ts' }, BUNDLE)
console.log(line(['routes', 'start', 'processor', 'one edit', 'endpoints', 'memory']))
let missed = 0
for (const routes of SIZES.length > 0 ? SIZES : [1000, BAR_SIZE, 50_000]) {
  const measured = measure(routes)
  const { startMs, startCpuMs, editMs, endpointsMs, residentMb } = measured
  console.log(
    line([
      `${routes}`,
      `${(startMs / 1000).toFixed(1)} s`,
      `${(startCpuMs / 1000).toFixed(1)} s`,
      `${editMs.toFixed(0)} ms`,
      `${endpointsMs.toFixed(0)} ms`,
      `${residentMb.toFixed(0)} MB`,
    ]),
  )
  if (routes !== BAR_SIZE) continue
  for (const [name, bar] of Object.entries(BARS)) {
    if (measured[name as keyof typeof BARS] <= bar) continue
    missed++
    console.log(`  ${name} is above its bar of ${bar}`)
  }
}
process.exit(missed === 0 ? 0 : 1)
