import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Part } from '../../run-parts.ts'
import type { Transcript } from '../../transcript.ts'
import { startEverything } from '../everything/server.ts'
import { startMcpGateway } from '../mcp-gateway.ts'
import { compareResults, type Difference, type Results } from './comparison.ts'
import { startRelay } from './relay.ts'
import { RUNS, runScenario, runScenarios, type SuiteRun } from './suite.ts'

/** Where the exchanges of scenarios that are worse are kept. */
const FOLDER = join(tmpdir(), 'gatewright-interop', 'mcp-exchanges')

/** A way through the gateway. */
interface Way {
  readonly name: string
  readonly path: string
  readonly target?: string
}

const WAYS: readonly Way[] = [
  { name: 'one target', path: '/one' },
  { name: 'two targets', path: '/two', target: 'everything' },
]

/**
 * Runs the official conformance suite against a server directly and through the gateway, and compares check by check. A check that is
 * worse is tried again alone, with a record of what was said, before it counts.
 */
export const checkConformance: Part = async (transcript, stops) => {
  const everything = stops.use(disposable(await startEverything()))
  const other = stops.use(disposable(await startEverything()))
  const gateway = await startMcpGateway(stops, {
    one: { everything: everything.port },
    two: { everything: everything.port, other: other.port },
  })
  await mkdir(FOLDER, { recursive: true })
  const rows: Row[] = []
  for (const [name, run] of Object.entries(RUNS)) {
    const direct = await runScenarios(run, `${everything.url}/mcp`)
    if (direct.size === 0) throw new Error(`the suite ${name} ran no scenario`)
    const ways = run.needsOneTarget ? WAYS.filter(({ target }) => target === undefined) : WAYS
    for (const way of ways) rows.push(await compareWay({ name, run, direct, way, gatewayPort: gateway.port }))
  }
  report(transcript, rows)
}

interface Comparing {
  readonly name: string
  readonly run: SuiteRun
  readonly direct: Results
  readonly way: Way
  readonly gatewayPort: number
}

interface Row {
  readonly run: string
  readonly way: string
  readonly same: number
  readonly better: readonly Difference[]
  readonly worse: readonly (Difference & { readonly exchange: string })[]
}

async function compareWay({ name, run, direct, way, gatewayPort }: Comparing): Promise<Row> {
  await using relay = await startRelay({ port: gatewayPort, ...(way.target && { target: way.target }) })
  const through = await runScenarios(run, `http://127.0.0.1:${relay.port}${way.path}`)
  const { same, better, worse } = compareResults(direct, through)
  const confirmed: Row['worse'][number][] = []
  for (const scenario of new Set(worse.map((one) => one.scenario))) {
    const exchange = join(FOLDER, `${name} ${way.name} ${scenario}.txt`.replaceAll(' ', '_'))
    const again = await tryAgain({ name, run, direct, way, gatewayPort }, scenario, exchange)
    const known = worse.filter((one) => one.scenario === scenario).map(({ id }) => id)
    confirmed.push(...again.filter(({ id }) => known.includes(id)).map((one) => ({ ...one, exchange })))
  }
  return { run: name, way: way.name, same: same + worse.length - confirmed.length, better, worse: confirmed }
}

/** Runs a scenario alone and keeps what was said in a file. @returns what is worse now */
async function tryAgain(
  { run, direct, way, gatewayPort }: Comparing,
  scenario: string,
  file: string,
): Promise<readonly Difference[]> {
  const lines: string[] = []
  const note = (line: string) => void lines.push(line)
  await using relay = await startRelay({ port: gatewayPort, note, ...(way.target && { target: way.target }) })
  const through = await runScenario(run, scenario, `http://127.0.0.1:${relay.port}${way.path}`)
  await writeFile(file, `${lines.join('\n')}\n`)
  const expected = new Map([[scenario, direct.get(scenario) ?? []]])
  return compareResults(expected, through).worse
}

function report(transcript: Transcript, rows: readonly Row[]): void {
  for (const { run, way, better, worse } of rows) {
    for (const one of better) console.log(`better ${run}, ${way}: ${shown(one)}`)
    for (const one of worse) console.log(`worse  ${run}, ${way}: ${shown(one)}: ${one.why}`)
    for (const exchange of new Set(worse.map((one) => one.exchange))) console.log(`       ${exchange}`)
  }
  console.table(
    rows.map(({ run, way, same, better, worse }) => ({
      run,
      way,
      same,
      better: better.length,
      worse: worse.length,
    })),
  )
  for (const { run, way, worse } of rows) transcript.check(`${run}, ${way}: checks that are worse`, worse.length, 0)
}

function shown({ scenario, id, direct, through }: Difference): string {
  return `${scenario}/${id} ${direct} -> ${through}`
}

function disposable<Thing extends { close(): Promise<unknown> }>(thing: Thing): Thing & AsyncDisposable {
  return { ...thing, [Symbol.asyncDispose]: async () => void (await thing.close()) }
}
