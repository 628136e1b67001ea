import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bundle } from '../../build/bundle.mjs'
import type { Measured } from './measure.ts'
import { measureWatchers } from './watchers.ts'

const WORDS = process.argv.slice(2)
const SIZES = WORDS.filter((word) => word !== 'watchers').map(Number)
/** Gateways run from a bundle. */
const BUNDLE = '.cache/bench-config'
const MEASURE = fileURLToPath(new URL(`../../${BUNDLE}/measure.js`, import.meta.url))
/** The compile cache that `bin/gatewright` uses. */
const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/gatewright', import.meta.url))

/** As `bin/gatewright`. */
const YOUNG_GENERATION = '--max-semi-space-size=4'

/** Limits for 10,000 routes and 2,000 policies (bench/README.md). */
const BARS = { startMs: 3000, editMs: 50, endpointsMs: 10, apiEditMs: 50, peakMb: 400 } as const
const BAR_SIZE = 10_000
const WATCHERS = { count: 1000, writes: 500, perSecond: 50 } as const

let missed = 0
function miss(text: string): void {
  missed++
  console.log(`  ${text}`)
}

function measure(routes: number): Measured {
  const text = execFileSync(process.execPath, [YOUNG_GENERATION, MEASURE, `${routes}`], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { NODE_COMPILE_CACHE: COMPILED, ...process.env },
  })
  return JSON.parse(text) as Measured
}

function line(cells: readonly string[]): string {
  return cells.map((cell) => cell.padStart(13)).join('')
}

async function measureSizes(sizes: readonly number[]): Promise<void> {
  await bundle({ measure: 'bench/config/measure.ts', 'proxy-worker': 'src/workers/proxy-worker.ts' }, BUNDLE)
  console.log(line(['routes', 'start', 'processor', 'edit of file', 'endpoints', 'edit by API', 'peak memory']))
  for (const routes of sizes) {
    const measured = measure(routes)
    const { startMs, startCpuMs, editMs, endpointsMs, apiEditMs, peakMb } = measured
    const seconds = [startMs, startCpuMs].map((ms) => `${(ms / 1000).toFixed(1)} s`)
    const milliseconds = [editMs, endpointsMs, apiEditMs].map((ms) => `${ms.toFixed(0)} ms`)
    console.log(line([`${routes}`, ...seconds, ...milliseconds, `${peakMb.toFixed(0)} MB`]))
    if (routes !== BAR_SIZE) continue
    for (const [name, bar] of Object.entries(BARS)) {
      if (measured[name as keyof typeof BARS] > bar) miss(`${name} is above its bar of ${bar}`)
    }
  }
}

async function measureWatches(): Promise<void> {
  const { count, writes, perSecond } = WATCHERS
  const measured = await measureWatchers(count, writes, perSecond)
  const { wrong, medianMs, longestMs, writesPerSecond, cpuMicroseconds, peakMb } = measured
  console.log(
    `${count} watchers, ${writesPerSecond.toFixed(0)} writes a second: ${medianMs.toFixed(0)} ms until all have an event (longest ${longestMs.toFixed(0)} ms), ${cpuMicroseconds.toFixed(1)} us of processor time for each, ${peakMb.toFixed(0)} MB`,
  )
  if (wrong > 0) miss(`${wrong} events were lost, repeated or out of order`)
  if (writesPerSecond < 0.95 * perSecond) miss(`fewer than ${perSecond} writes a second were acknowledged`)
}

if (!WORDS.includes('watchers')) await measureSizes(SIZES.length > 0 ? SIZES : [1000, BAR_SIZE, 50_000])
if (SIZES.length === 0) await measureWatches()
process.exit(missed === 0 ? 0 : 1)
