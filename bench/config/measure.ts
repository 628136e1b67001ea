import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startGateway } from './gateway.ts'
import { now } from './gateway-clock.ts'
import { routeFile, routeObject, routesYaml, scaleOf, slicesFile, sliceYaml, writeObjects } from './objects.ts'
import { peakMemoryMb } from './peak-memory.ts'
import { startClient } from './start-client.ts'

/** The cost of one configuration, as JSON on standard output. Runs in a separate process, so that memory is measured per size. */
export interface Measured {
  readonly routes: number
  readonly startMs: number
  /** Processor time of the start; other work on the machine affects it least. */
  readonly startCpuMs: number
  /** Medians, from reading the files again until all workers use the new plan. */
  readonly editMs: number
  readonly endpointsMs: number
  /** Median, from the acknowledged write until all workers use the new plan; 0 if they used it before. */
  readonly apiEditMs: number
  /** Most resident memory at any time. */
  readonly peakMb: number
}

const EDITS = 15
const ROUTES = '/apis/gateway.networking.k8s.io/v1/namespaces/default/httproutes'

const routes = Number(process.argv[2])
const folder = mkdtempSync(join(tmpdir(), 'bench-config-'))
const state = mkdtempSync(join(tmpdir(), 'bench-config-state-'))

async function median(times: number, measure: (round: number) => Promise<number>): Promise<number> {
  const all: number[] = []
  for (let round = 1; round <= times; round++) all.push(await measure(round))
  return all.sort((a, b) => a - b)[times >> 1]!
}

try {
  writeObjects(folder, scaleOf(routes))
  const before = now()
  const cpuBefore = process.cpuUsage()
  const { instance, kubeconfig, nextPlan } = await startGateway(folder, state)
  const startMs = now() - before
  const cpu = process.cpuUsage(cpuBefore)
  const startCpuMs = (cpu.user + cpu.system) / 1000

  const timeOf = async (write: () => void) => {
    write()
    const start = now()
    const applied = nextPlan()
    instance.store.reload()
    return (await applied) - start
  }
  const editMs = await median(EDITS, (round) => timeOf(() => writeFileSync(routeFile(folder, 0), routesYaml(0, round))))
  const endpointsMs = await median(EDITS, (round) =>
    timeOf(() => writeFileSync(slicesFile(folder), sliceYaml(0, round + 1))),
  )
  using client = startClient(kubeconfig)
  const created = nextPlan()
  await client.ask({ method: 'POST', path: ROUTES, body: routeObject(routes, 0) })
  await created
  const apiEditMs = await median(EDITS, async (round) => {
    const applied = nextPlan()
    const { metadata, spec } = routeObject(routes, round)
    const acknowledged = client.ask({ method: 'PATCH', path: `${ROUTES}/${metadata.name}`, body: { spec } })
    return Math.max(0, (await applied) - (await acknowledged))
  })
  const peakMb = peakMemoryMb(process.pid)
  console.log(
    JSON.stringify({ routes, startMs, startCpuMs, editMs, endpointsMs, apiEditMs, peakMb } satisfies Measured),
  )
  await instance.close({ minMs: 0, maxMs: 0 })
} finally {
  for (const path of [folder, state]) rmSync(path, { recursive: true, force: true })
}
process.exit(0)
