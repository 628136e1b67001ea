import { join } from 'node:path'
import type { InstanceEvents } from '#instance/events.ts'
import { Instance } from '#instance/instance.ts'
import { StateFolder } from '#instance/state-folder.ts'
import { SqliteJournal } from '#store/database/sqlite-journal.ts'
import { FileStore } from '#store/files.ts'
import { ResourceTable } from '#store/resources/resource-table.ts'
import { ServedStore } from '#store/served-store.ts'
import { now } from './gateway-clock.ts'

const WORKERS = 2

/** A gateway in this process, whose events can be timed. */
export interface TimedGateway {
  readonly instance: Instance
  readonly table: ResourceTable
  /** Kubeconfig of its API. */
  readonly kubeconfig: string
  /** Resolves when all workers run with the plan that comes next, with the time: `now()`. */
  nextPlan(): Promise<number>
}

/** Starts a gateway on the objects in a folder. @param state the folder for its database and credentials; undefined: it serves no API */
export async function startGateway(folder: string, state: string | undefined): Promise<TimedGateway> {
  let applied: (atMs: number) => void = () => {}
  const events: InstanceEvents = {
    secrets: () => {},
    clusterChanged: () => {},
    objectsChanged: () => {},
    translated: () => {},
    applied: () => applied(now()),
    readiness: () => {},
    workerReplaced: (_, __, cause) => {
      throw new Error(cause)
    },
    logLevels: { levels: { others: 'error' }, changeLevels: () => {} },
    message: () => {},
    labelFolded: () => {},
    accessLog: () => {},
    bug: (_, stack) => {
      throw new Error(stack)
    },
  }
  const fail = (problem: Error) => {
    throw problem
  }
  const files = new FileStore([folder], { watch: true })
  const opened = state === undefined ? undefined : SqliteJournal.open(join(state, 'objects.db'), fail)
  const table = new ResourceTable(opened?.journal, opened?.content)
  const anyPort = { host: '127.0.0.1', port: 0 }
  const instance = await Instance.start(
    {
      store: opened === undefined ? files : new ServedStore(files, table, fail),
      bind: '127.0.0.1',
      workers: WORKERS,
      logFormat: 'text',
      logFile: '/dev/null',
      sessionKeys: { current: new Uint8Array(32), previous: undefined },
      addressPool: undefined,
      state: state === undefined ? undefined : new StateFolder(state, true, () => {}),
      api: state === undefined ? undefined : anyPort,
      shutdown: { minMs: undefined, maxMs: undefined },
      bodyMemoryBytes: undefined,
      transport: 'auto',
      admin: anyPort,
      metrics: anyPort,
      readiness: anyPort,
    },
    events,
  )
  const nextPlan = () =>
    new Promise<number>((resolve) => {
      applied = resolve
    })
  return { instance, table, kubeconfig: join(state ?? '', 'kubeconfig'), nextPlan }
}
