import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { residentMb } from '../process-cost.ts'
import { projectFile } from '../settings.ts'

const ANY_PORT = '127.0.0.1:0'
const WORKERS = 2
/** Time in which a gateway without traffic becomes quiet and has released the memory of its start. */
const SETTLE_MS = 8000
const OBJECTS = 'examples/quickstart'

/** Prints how long `explain` takes and how much memory an idle gateway has, without compiled code on disk and with it. */
export async function measureStart(scratch: string): Promise<void> {
  const environment = {
    ...process.env,
    NODE_COMPILE_CACHE: mkdtempSync(join(scratch, 'compiled-')),
    GATEWRIGHT_ADMIN_ADDR: ANY_PORT,
    GATEWRIGHT_STATS_ADDR: ANY_PORT,
    GATEWRIGHT_READINESS_ADDR: ANY_PORT,
    GATEWRIGHT_API_ADDR: 'off',
  }
  for (const time of ['first', 'second']) {
    console.log(`explain, ${time} time: ${explainMs(environment).toFixed(0)} ms`)
    const { readyMs, idleMb } = await runIdle(environment, scratch)
    console.log(
      `run with ${WORKERS} workers, ${time} time: ready after ${readyMs.toFixed(0)} ms, idle ${idleMb.toFixed(0)} MB`,
    )
  }
}

function explainMs(env: NodeJS.ProcessEnv): number {
  const before = performance.now()
  const words = ['explain', '-f', projectFile(OBJECTS), 'http://localhost:8080/levels/deep']
  const { status } = spawnSync(projectFile('bin/gatewright'), words, { env })
  if (status !== 0) throw new Error(`explain ended with code ${status}`)
  return performance.now() - before
}

async function runIdle(env: NodeJS.ProcessEnv, scratch: string): Promise<{ readyMs: number; idleMb: number }> {
  const before = performance.now()
  const words = ['run', projectFile(OBJECTS), '--workers', `${WORKERS}`, '--state', join(scratch, 'state')]
  const gateway = spawn(projectFile('bin/gatewright'), words, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const exit = once(gateway, 'exit')
  try {
    for await (const chunk of gateway.stderr) if (/\tready |not ready/.test(String(chunk))) break
    const readyMs = performance.now() - before
    await sleep(SETTLE_MS)
    return { readyMs, idleMb: residentMb(gateway.pid!) }
  } finally {
    gateway.kill()
    await exit
  }
}
