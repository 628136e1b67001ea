import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { processCpuMs, proportionalMb } from '../process-cost.ts'
import { scratchFolder } from '../scratch-folder.ts'
import { projectFile } from '../settings.ts'

const ROUNDS = 5
const WORKERS = 2
/** Time in which a gateway without traffic becomes quiet and has released the memory of its start. */
const SETTLE_MS = 8000
const ANY_PORT = '127.0.0.1:0'
/** The same objects for all versions. */
const OBJECTS = projectFile('examples/quickstart')

/** Costs of the starts of one version, one entry for each round. */
interface Version {
  /** Folder of a checkout or of an installed package. */
  readonly root: string
  readonly firstCpuMs: number[]
  readonly secondCpuMs: number[]
  readonly idleMb: number[]
}

/** Starts a gateway and ends it. @param idle also waits until it is quiet, for its memory */
async function start(root: string, compiled: string, idle: boolean): Promise<{ cpuMs: number; idleMb: number }> {
  const state = mkdtempSync(join(scratchFolder(), 'state-'))
  const words = ['run', OBJECTS, '--workers', `${WORKERS}`, '--state', state]
  const env = {
    ...process.env,
    NODE_COMPILE_CACHE: compiled,
    GATEWRIGHT_ADMIN_ADDR: ANY_PORT,
    GATEWRIGHT_STATS_ADDR: ANY_PORT,
    GATEWRIGHT_READINESS_ADDR: ANY_PORT,
    GATEWRIGHT_API_ADDR: ANY_PORT,
  }
  const gateway = spawn(join(root, 'bin/gatewright'), words, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const exit = once(gateway, 'exit')
  let log = ''
  try {
    const ready = new Promise<void>((done, fail) => {
      gateway.once('error', fail)
      gateway.once('exit', () => fail(new Error(`the gateway of ${root} ended:\n${log}`)))
      gateway.stderr.on('data', (chunk: Buffer) => {
        log += chunk
        if (/\tready |not ready/.test(log)) done()
      })
    })
    await ready
    const cpuMs = processCpuMs(gateway.pid!)
    if (idle) await sleep(SETTLE_MS)
    return { cpuMs, idleMb: proportionalMb(gateway.pid!) }
  } finally {
    gateway.kill()
    await exit
  }
}

async function measureRound({ root, firstCpuMs, secondCpuMs, idleMb }: Version): Promise<void> {
  const compiled = mkdtempSync(join(scratchFolder(), 'compiled-'))
  firstCpuMs.push((await start(root, compiled, false)).cpuMs)
  const second = await start(root, compiled, true)
  secondCpuMs.push(second.cpuMs)
  idleMb.push(second.idleMb)
}

/** Median, and the lowest and the highest value. */
function summary(values: readonly number[], unit: string): string {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)]!.toFixed(0)
  return `${at(0.5)} ${unit} (${at(0)} to ${at(1)})`
}

const roots = [projectFile('.'), ...process.argv.slice(2).map((path) => resolve(path))]
const versions: readonly Version[] = roots.map((root) => ({ root, firstCpuMs: [], secondCpuMs: [], idleMb: [] }))
for (let round = 0; round < ROUNDS; round++) {
  // The order alternates, so that no version always runs behind the same one.
  for (const version of round % 2 === 0 ? versions : versions.toReversed()) await measureRound(version)
}
for (const { root, firstCpuMs, secondCpuMs, idleMb } of versions) {
  console.log(`${root}, ${WORKERS} workers, medians of ${ROUNDS} rounds:`)
  console.log(`  first start:  ${summary(firstCpuMs, 'ms')} of processor time until it is ready`)
  console.log(`  second start: ${summary(secondCpuMs, 'ms')} of processor time until it is ready`)
  console.log(`  idle:         ${summary(idleMb, 'MB')} of memory (PSS)`)
}
process.exit(0)
