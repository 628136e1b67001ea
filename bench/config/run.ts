import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bundle } from '../../build/bundle.mjs'
import type { DeletesMeasured } from './deletes.ts'
import type { Measured } from './measure.ts'
import { measureWatchers } from './watchers.ts'

const WORDS = process.argv.slice(2)
const PARTS = ['watchers', 'deletes']
const SIZES = WORDS.filter((word) => !PARTS.includes(word)).map(Number)
/** Gateways run from a bundle. */
const BUNDLE = '.cache/bench-config'
const BUNDLED = fileURLToPath(new URL(`../../${BUNDLE}/`, import.meta.url))
/** The compile cache that `bin/gatewright` uses. */
const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/gatewright', import.meta.url))

/** As `bin/gatewright`. */
const YOUNG_GENERATION = '--max-semi-space-size=4'
const MEMORY_AREAS = { MALLOC_ARENA_MAX: '2' }

/** Limits for 10,000 routes and 2,000 policies (bench/README.md). */
const BARS = { startMs: 3000, editMs: 50, endpointsMs: 10, apiEditMs: 50, peakMb: 400 } as const
const BAR_SIZE = 10_000
/** Processor time that the main thread may work without answering others while objects are deleted. */
const STRETCH_CPU_MS = 50
const WATCHERS = { count: 1000, writes: 500, perSecond: 50 } as const

let missed = 0
function miss(text: string): void {
  missed++
  console.log(`  ${text}`)
}

/** Runs a measurement in a process of its own. @returns what it prints */
function run(name: string, ...words: readonly string[]): unknown {
  const text = execFileSync(process.execPath, [YOUNG_GENERATION, `${BUNDLED}${name}.js`, ...words], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { NODE_COMPILE_CACHE: COMPILED, ...MEMORY_AREAS, ...process.env },
  })
  return JSON.parse(text)
}

function line(cells: readonly string[]): string {
  return cells.map((cell) => cell.padStart(13)).join('')
}

function measureSizes(sizes: readonly number[]): void {
  console.log(line(['routes', 'start', 'processor', 'edit of file', 'endpoints', 'edit by API', 'peak memory']))
  for (const routes of sizes) {
    const measured = run('measure', `${routes}`) as Measured
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

function measureDeletes(): void {
  for (const { name, objects, ms, stretchCpuMs, stretchMs } of run('deletes') as DeletesMeasured) {
    console.log(
      `delete ${name} with ${objects} objects: ${(ms / 1000).toFixed(1)} s, the main thread works for at most ${stretchCpuMs.toFixed(0)} ms at a stretch (${stretchMs.toFixed(0)} ms with waits)`,
    )
    if (stretchCpuMs > STRETCH_CPU_MS) miss(`a stretch is above its bar of ${STRETCH_CPU_MS} ms`)
  }
}

const isWanted = (part: string) => WORDS.length === 0 || WORDS.includes(part)
await bundle(
  {
    measure: 'bench/config/measure.ts',
    deletes: 'bench/config/deletes.ts',
    'proxy-worker': 'src/workers/proxy-worker.ts',
  },
  BUNDLE,
)
if (SIZES.length > 0 || WORDS.length === 0) measureSizes(SIZES.length > 0 ? SIZES : [1000, BAR_SIZE, 50_000])
if (isWanted('watchers')) await measureWatches()
if (isWanted('deletes')) measureDeletes()
process.exit(missed === 0 ? 0 : 1)
