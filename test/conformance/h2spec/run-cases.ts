import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Outcomes {
  /** Every executed case, as `section: <its frames>`. */
  readonly ran: readonly string[]
  /** The failed cases, with the observed behaviour. */
  readonly failed: ReadonlyMap<string, string>
}

const WAIT_SECONDS = '1'

/** Runs all cases, also the strict ones, against a server under TLS. */
export async function runCases(tool: string, port: number): Promise<Outcomes> {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-h2spec-report-'))
  const report = join(folder, 'report.xml')
  const words = ['--strict', '-t', '-k', '-h', '127.0.0.1', '-p', String(port), '-o', WAIT_SECONDS, '-j', report]
  const child = spawn(tool, words, { stdio: 'ignore' })
  await once(child, 'exit')
  const outcomes = readReport(readFileSync(report, 'utf8'))
  rmSync(folder, { recursive: true })
  return outcomes
}

const CASE = /<testcase package="([^"]*)" classname="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g

/** Reads the report that h2spec writes in the form of JUnit. */
function readReport(xml: string): Outcomes {
  const ran: string[] = []
  const failed = new Map<string, string>()
  for (const [, section, sends, content = ''] of xml.matchAll(CASE)) {
    const name = `${section}: ${sends}`
    ran.push(name)
    const seen = /<(?:failure|error)>([\s\S]*?)<\/(?:failure|error)>/.exec(content)?.[1]
    if (seen !== undefined) failed.set(name, seen.trim().split('\n').at(-1)!)
  }
  return { ran, failed }
}
