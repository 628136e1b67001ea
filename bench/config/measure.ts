import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { InstanceEvents } from '#instance/events.ts'
import { Instance } from '#instance/instance.ts'
import { SqliteJournal } from '#store/database/sqlite-journal.ts'
import { FileStore } from '#store/files.ts'
import { ResourceTable } from '#store/resources/resource-table.ts'
import { ServedStore } from '#store/served-store.ts'
import type { ObjectStore } from '#store/store.ts'
import { routeFile, routesYaml, scaleOf, slicesFile, sliceYaml, writeObjects } from './objects.ts'

/** The cost of one configuration, as JSON on standard output. Runs in a separate process, so that memory is measured per size. */
export interface Measured {
  readonly routes: number
  readonly startMs: number
  /** Processor time of the start; other work on the machine affects it least. */
  readonly startCpuMs: number
  /** Medians, from reading the files again until all workers use the new plan. */
  readonly editMs: number
  readonly endpointsMs: number
  readonly residentMb: number
}

const WORKERS = 2
const EDITS = 15

const routes = Number(process.argv[2])
/** With the table of an API server. */
const isServed = process.argv[3] === 'served'
const folder = mkdtempSync(join(tmpdir(), 'bench-config-'))

let applied: () => void = () => {}
const quiet: InstanceEvents = {
  secrets: () => {},
  objectsChanged: () => {},
  translated: () => {},
  applied: () => applied(),
  readiness: () => {},
  workerReplaced: (_, __, cause) => {
    throw new Error(cause)
  },
  message: () => {},
  labelFolded: () => {},
  accessLog: () => {},
  bug: (_, stack) => {
    throw new Error(stack)
  },
}

function timeOf(write: () => void, instance: Instance): Promise<number> {
  write()
  const start = performance.now()
  return new Promise((resolve) => {
    applied = () => resolve(performance.now() - start)
    instance.store.reload()
  })
}

function openStore(): ObjectStore {
  const files = new FileStore([folder], { watch: true })
  if (!isServed) return files
  const fail = (problem: Error) => {
    throw problem
  }
  const { journal, content } = SqliteJournal.open(`${folder}.db`, fail)
  return new ServedStore(files, new ResourceTable(journal, content), fail)
}

async function median(times: number, measure: (round: number) => Promise<number>): Promise<number> {
  const all: number[] = []
  for (let round = 1; round <= times; round++) all.push(await measure(round))
  return all.sort((a, b) => a - b)[times >> 1]!
}

try {
  writeObjects(folder, scaleOf(routes))
  const before = performance.now()
  const cpuBefore = process.cpuUsage()
  const anyPort = { host: '127.0.0.1', port: 0 }
  const instance = await Instance.start(
    {
      store: openStore(),
      bind: '127.0.0.1',
      workers: WORKERS,
      logFormat: 'text',
      logFile: '/dev/null',
      sessionKeys: { current: new Uint8Array(32), previous: undefined },
      addressPool: undefined,
      state: undefined,
      shutdown: { minMs: undefined, maxMs: undefined },
      bodyMemoryBytes: undefined,
      transport: 'auto',
      admin: anyPort,
      metrics: anyPort,
      readiness: anyPort,
    },
    quiet,
  )
  // An API server reads it.
  void instance.served?.table
  const startMs = performance.now() - before
  const cpu = process.cpuUsage(cpuBefore)
  const startCpuMs = (cpu.user + cpu.system) / 1000
  const editMs = await median(EDITS, (round) =>
    timeOf(() => writeFileSync(routeFile(folder, 0), routesYaml(0, round)), instance),
  )
  const endpointsMs = await median(EDITS, (round) =>
    timeOf(() => writeFileSync(slicesFile(folder), sliceYaml(0, round + 1)), instance),
  )
  const residentMb = process.memoryUsage.rss() / 2 ** 20
  console.log(JSON.stringify({ routes, startMs, startCpuMs, editMs, endpointsMs, residentMb } satisfies Measured))
  await instance.close({ minMs: 0, maxMs: 0 })
} finally {
  for (const path of [folder, `${folder}.db`]) rmSync(path, { recursive: true, force: true })
}
process.exit(0)
