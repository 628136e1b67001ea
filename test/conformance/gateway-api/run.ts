/** Runs the official conformance suite of the Gateway API. See README.md. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isUpdate } from '#test/cases/golden-case.ts'
import { definitionsFolder } from '#test/interop/cluster/gateway-api.ts'
import { builtGoProgram, builtGoTests, installedProgram, MissingCounterpart } from '#test/interop/counterparts.ts'
import { runOnCluster } from './on-cluster.ts'
import type { SuitePrograms } from './suite.ts'

const HERE = import.meta.dirname
const REPORTS = join(HERE, '..', '..', '..', 'docs', 'conformance')
const FOLDER = join(tmpdir(), 'gatewright-conformance')
const ECHO = 'sigs.k8s.io/gateway-api/conformance/echo-basic'
/** A process tree and a network of their own, which end with their first process. */
const NAMESPACES = ['--net', '--pid', '--mount', '--fork', '--kill-child', '--mount-proc']

/** @returns the exit code of the suite */
type Target = (programs: SuitePrograms, folder: string, flags: readonly string[]) => number | Promise<number>

const TARGETS: Readonly<Record<string, Target>> = { standalone: runStandalone, controller: runOnCluster }

function runStandalone({ suite, echo }: SuitePrograms, folder: string, flags: readonly string[]): number {
  installedProgram('ip', 'iproute2')
  const unshare = installedProgram('unshare', 'util-linux')
  const program = [process.execPath, join(HERE, 'standalone.ts')]
  const words = [...NAMESPACES, ...program, suite, echo, definitionsFolder(), folder, ...flags]
  return spawnSync(unshare, words, { stdio: 'inherit' }).status ?? 1
}

async function runTargets(words: readonly string[]): Promise<number> {
  const isChosen = Object.hasOwn(TARGETS, words[0] ?? '')
  const flags = isChosen ? words.slice(1) : words
  const programs = {
    suite: builtGoTests(join(HERE, 'suite'), 'gateway-api-conformance'),
    echo: builtGoProgram(join(HERE, 'echo'), 'gateway-api-echo', ECHO),
  }
  let code = 0
  for (const target of isChosen ? [words[0]!] : Object.keys(TARGETS)) {
    const folder = join(FOLDER, target)
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    console.log(`${target}: log and report are in ${folder}`)
    const begin = performance.now()
    const seen = await TARGETS[target]!(programs, folder, flags)
    code ||= seen
    console.log(`${target}: ${Math.round((performance.now() - begin) / 1000)} s`)
    if (isUpdate && seen === 0) copyFileSync(join(folder, 'report.yaml'), join(REPORTS, `gateway-api-${target}.yaml`))
  }
  return code
}

try {
  process.exitCode = await runTargets(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof MissingCounterpart)) throw error
  console.error(`MISSING ${error.message}`)
  process.exitCode = 2
}
