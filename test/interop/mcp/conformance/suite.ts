import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installedNpmPackages } from '../../counterparts.ts'
import type { Check, Results } from './comparison.ts'

/** A version of the suite, and which of its scenarios run. */
export interface SuiteRun {
  readonly version: string
  /** Options of the suite's command line. */
  readonly words: readonly string[]
  /** Options that run one of these scenarios alone. */
  readonly alone: readonly string[]
  /** Methods of an extension that the gateway does not know can pass only where there is no choice between targets. */
  readonly needsOneTarget?: boolean
}

const STABLE = '0.1.16'
const NEXT = '0.2.0-alpha.12'
const SCENARIO_LIMIT_MS = 30_000
const SUITE_LIMIT_MS = 300_000

/** Every requirement set of the suite, the revisions that have none, and the extensions that are in none. */
export const RUNS: Readonly<Record<string, SuiteRun>> = {
  [`${STABLE} all`]: { version: STABLE, words: ['--suite', 'all'], alone: [] },
  [`${NEXT} 2025-03-26`]: revision('2025-03-26', ['--suite', 'all', '--spec-version', '2025-03-26']),
  [`${NEXT} 2025-06-18`]: revision('2025-06-18', ['--suite', 'all', '--spec-version', '2025-06-18']),
  [`${NEXT} 2025-11-25`]: revision('2025-11-25', ['--requirements', '2025-11-25']),
  [`${NEXT} 2026-07-28`]: revision('2026-07-28', ['--requirements', '2026-07-28']),
  [`${NEXT} extensions`]: { version: NEXT, words: ['--suite', 'all'], alone: [], needsOneTarget: true },
}

function revision(name: string, words: readonly string[]): SuiteRun {
  return { version: NEXT, words, alone: ['--spec-version', name, '--force', '--timeout', String(SCENARIO_LIMIT_MS)] }
}

/** Runs the scenarios of a run against a server. */
export function runScenarios(run: SuiteRun, url: string): Promise<Results> {
  return runSuite(run, [...run.words, '--url', url])
}

/** Runs one scenario of a run against a server. */
export function runScenario(run: SuiteRun, scenario: string, url: string): Promise<Results> {
  return runSuite(run, ['--scenario', scenario, ...run.alone, '--url', url])
}

async function runSuite({ version }: SuiteRun, words: readonly string[]): Promise<Results> {
  const packages = installedNpmPackages(`mcp-conformance-${version}`, `@modelcontextprotocol/conformance@${version}`)
  const program = join(packages, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js')
  const folder = await mkdtemp(join(tmpdir(), 'gatewright-conformance-'))
  try {
    const all = [program, 'server', ...words, '--output-dir', folder]
    const child = spawn(process.execPath, all, { stdio: 'ignore', timeout: SUITE_LIMIT_MS })
    await once(child, 'exit')
    return await readResults(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The suite keeps the checks of a scenario in `server-SCENARIO-TIME/checks.json`. */
async function readResults(folder: string): Promise<Results> {
  const results = new Map<string, readonly Check[]>()
  for (const entry of await readdir(folder)) {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(entry)?.[1]
    if (scenario === undefined) continue
    // A scenario that ends the suite leaves an empty folder.
    const text = await readFile(join(folder, entry, 'checks.json'), 'utf8').catch(() => '[]')
    const checks = JSON.parse(text) as readonly SuiteCheck[]
    const toCheck = ({ id, status, errorMessage }: SuiteCheck) => ({
      id,
      status,
      ...(errorMessage && { why: errorMessage }),
    })
    results.set(scenario, checks.map(toCheck))
  }
  return results
}

interface SuiteCheck {
  readonly id: string
  readonly status: Check['status']
  readonly errorMessage?: string
}
