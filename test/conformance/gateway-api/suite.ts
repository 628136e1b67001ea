import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const PROFILES = ['GATEWAY-HTTP', 'GATEWAY-GRPC', 'GATEWAY-TLS', 'GATEWAY-TCP']

export interface SuitePrograms {
  readonly suite: string
  readonly echo: string
}

export interface SuiteOptions {
  readonly kubeconfig: string
  /** In the report. */
  readonly mode: string
  /** For the log and the report. */
  readonly folder: string
  /** More flags of the suite. */
  readonly flags: readonly string[]
}

/** Runs the official suite, and prints the tests that failed. @returns its exit code @param command the program, with words before it */
export async function runSuite(command: readonly string[], options: SuiteOptions): Promise<number> {
  const { kubeconfig, folder } = options
  const [program, ...words] = [...command, ...flagsOf(options)]
  const child = spawn(program!, words, {
    env: { ...process.env, KUBECONFIG: kubeconfig },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const log = createWriteStream(join(folder, 'suite.log'))
  const results: Record<string, string[]> = { PASS: [], FAIL: [], SKIP: [] }
  for await (const line of createInterface({ input: child.stdout })) {
    log.write(`${line}\n`)
    const [, result, test] = /^ *--- (PASS|FAIL|SKIP): TestConformance\/(\S+)/.exec(line) ?? []
    if (test !== undefined) results[result!]!.push(test)
  }
  const code = child.exitCode ?? ((await once(child, 'close'))[0] as number)
  const ofTests = (names: readonly string[]) => names.filter((name) => !name.includes('/')).length
  for (const test of results.FAIL!) console.log(`FAIL ${test}`)
  const [passed, failed, skipped] = Object.values(results).map(ofTests)
  console.log(`${passed} tests passed, ${failed} failed, ${skipped} skipped`)
  return code
}

function flagsOf({ mode, folder, flags }: SuiteOptions): readonly string[] {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  return [
    ...['-test.v', '-test.timeout=60m', '-gateway-class=gatewright'],
    // Without a list of features, the suite tests those in the status of the class.
    ...[
      `-conformance-profiles=${PROFILES}`,
      '-organization=gatewright',
      '-project=gatewright',
      '-url=https://gatewright.dev',
      `-version=${version}`,
    ],
    ...['-contact=https://gatewright.dev', `-mode=${mode}`, `-report-output=${join(folder, 'report.yaml')}`],
    ...flags,
  ]
}
