import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Answer, Edit, Order } from './controller.ts'
import type { Scale } from './objects.ts'
import type { ProxiesAnswer, ProxiesOrder } from './proxies.ts'

/**
 * What one controller needs for many proxies: bytes, processor time and memory (bench/README.md).
 *
 *     npm run bench -- delivery [PROXIES GATEWAYS ROUTES]
 */

/** Each line differs from another one in one number. */
const SCALES: readonly Scale[] = [
  { proxies: 10, gateways: 1, routes: 200 },
  { proxies: 100, gateways: 1, routes: 200 },
  { proxies: 1000, gateways: 1, routes: 200 },
  { proxies: 100, gateways: 1, routes: 2000 },
  { proxies: 100, gateways: 1, routes: 10_000 },
  { proxies: 100, gateways: 10, routes: 2000 },
  { proxies: 100, gateways: 100, routes: 2000 },
]
const EDITS = 10
/** Before and after them the memory is compared. */
const MORE_EDITS = 30
const PATIENCE_MS = 300_000
/** Of the controller's process at any time, with 1,000 proxies. */
const BAR_MB = 1000
/** Of the process with the proxies, which keep the versions of their items. */
const PROXIES_HEAP_MB = 8000

/** What one change takes: medians. */
interface Cost {
  /** For each proxy that gets it. */
  readonly bytes: number
  readonly cpuMs: number
  /** Until the last proxy has it. */
  readonly lastMs: number
  readonly statusWrites: number
}

function start(file: string, words: readonly string[], execArgv: readonly string[]): ChildProcess & Disposable {
  const child = fork(join(import.meta.dirname, file), words, { execArgv: [...execArgv] })
  child.once('exit', (code) => {
    if (!child.killed) throw new Error(`${file} has ended with ${code}`)
  })
  return Object.assign(child, { [Symbol.dispose]: () => void child.kill() })
}

async function heard<Said>(child: ChildProcess): Promise<Said> {
  const [said] = await once(child, 'message', { signal: AbortSignal.timeout(PATIENCE_MS) })
  return said as Said
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

interface Measured {
  /** Until all proxies have their first plan; bytes for each of them. */
  readonly first: Pick<Cost, 'cpuMs' | 'bytes'>
  readonly route: Cost
  readonly endpoints: Cost
  readonly reference: Cost
  readonly heapMb: number
  readonly peakMb: number
  /** Live memory that one more edit takes. */
  readonly growthBytes: number
}

async function measure(scale: Scale): Promise<Measured> {
  const words = [JSON.stringify(scale)]
  using controller = start('controller.ts', words, ['--expose-gc', '--max-semi-space-size=4'])
  const { port } = await heard<Answer>(controller)
  using proxies = start('proxies.ts', [...words, `${port}`], [`--max-old-space-size=${PROXIES_HEAP_MB}`])
  const order = (to: ChildProcess, what: Order | ProxiesOrder) => void to.send(what)
  const cost = () => {
    order(controller, 'cost')
    return heard<Answer>(controller)
  }
  const { bytes } = await heard<ProxiesAnswer>(proxies)
  const { cpuMs } = await cost()
  const first = { cpuMs, bytes: bytes / scale.proxies }

  const edit = async (of: Edit['of'], number: number) => {
    // All Gateways share the Service whose endpoints change.
    const changed = of === 'endpoints' ? scale.proxies : scale.proxies / scale.gateways
    order(proxies, { changed })
    const arrived = heard<ProxiesAnswer>(proxies)
    order(controller, { of, number })
    const { lastAtMs, bytes } = await arrived
    const { changedAtMs, cpuMs, statusWrites } = await cost()
    return { bytes: bytes / changed, cpuMs, lastMs: lastAtMs - changedAtMs, statusWrites }
  }
  const edits = async (of: Edit['of']): Promise<Cost> => {
    const all: Cost[] = []
    for (let number = 1; number <= EDITS; number++) all.push(await edit(of, number))
    const middle = (name: keyof Cost) => median(all.map((each) => each[name]))
    return {
      bytes: middle('bytes'),
      cpuMs: middle('cpuMs'),
      lastMs: middle('lastMs'),
      statusWrites: middle('statusWrites'),
    }
  }
  const route = await edits('route')
  const endpoints = await edits('endpoints')
  const reference = await edits('reference')
  const { heapMb: before } = await cost()
  for (let number = EDITS + 1; number <= EDITS + MORE_EDITS; number++) await edit('route', number)
  const { heapMb, peakMb } = await cost()
  const growthBytes = ((heapMb - before) * 1e6) / MORE_EDITS
  return { first, route, endpoints, reference, heapMb, peakMb, growthBytes }
}

const line = (cells: readonly string[]) => cells.map((cell) => cell.padStart(10)).join('')
const ms = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} ms`
const bytes = (value: number) => (value < 10_000 ? `${value.toFixed(0)} B` : `${(value / 1000).toFixed(0)} kB`)
const mb = (value: number) => `${value.toFixed(0)} MB`

const given = process.argv.slice(2).map(Number)
const [proxies, gateways, routes] = given
const scales = given.length === 3 ? [{ proxies: proxies!, gateways: gateways!, routes: routes! }] : SCALES
let missed = 0
console.log(
  line(['', '', '', 'first plan', '', 'route', '', '', '', 'endpoints', '', '', 'reference', '', '', 'memory', '', '']),
)
console.log(
  line([
    ...['proxies', 'Gateways', 'routes'],
    ...['CPU', 'bytes'],
    ...['last', 'CPU', 'bytes', 'statuses'],
    ...['last', 'CPU', 'bytes'],
    ...['last', 'CPU', 'bytes'],
    ...['heap', 'peak', 'an edit'],
  ]),
)
for (const scale of scales) {
  const { first, route, endpoints, reference, heapMb, peakMb, growthBytes } = await measure(scale)
  console.log(
    line([
      ...[scale.proxies, scale.gateways, scale.routes].map(String),
      ...[ms(first.cpuMs), bytes(first.bytes)],
      ...[ms(route.lastMs), ms(route.cpuMs), bytes(route.bytes), `${route.statusWrites}`],
      ...[ms(endpoints.lastMs), ms(endpoints.cpuMs), bytes(endpoints.bytes)],
      ...[ms(reference.lastMs), ms(reference.cpuMs), bytes(reference.bytes)],
      ...[mb(heapMb), mb(peakMb), bytes(growthBytes)],
    ]),
  )
  if (peakMb <= BAR_MB) continue
  missed++
  console.log(`  the memory of the controller is above its bar of ${mb(BAR_MB)}`)
}
process.exit(missed === 0 ? 0 : 1)
