import type { InstanceEvents } from '#instance/events.ts'
import { Instance } from '#instance/instance.ts'
import type { InstanceOptions } from '#instance/options.ts'
import { FileStore } from '#store/files.ts'
import { readSessionKeys } from '#workers/sealer.ts'
import { startThreadOf } from '#workers/worker-pool.ts'
import type { ObjectsFolder } from './objects-folder.ts'

/** From the bundle, as gateways load it: the sources need two seconds of processor time in each thread. */
export const PROXY_WORKER = new URL('../../dist/proxy-worker.js', import.meta.url)

/** The code of workers that soon notice that another one has died. */
export const HASTY_WORKER: URL = new URL('./hasty-worker.ts', import.meta.url)

/**
 * Starts an instance whose workers are threads, so that a test can kill one.
 * @param worker the code of the threads
 */
export function startInstance(
  folder: ObjectsFolder,
  workers: number,
  events: Partial<Parameters<typeof Instance.start>[1]> = {},
  worker: URL = PROXY_WORKER,
  options: Partial<InstanceOptions> = {},
): Promise<Instance> {
  const local = { host: '127.0.0.1', port: 0 }
  return Instance.start(
    {
      store: new FileStore([folder.path], { watch: true }),
      workers,
      bind: '127.0.0.1',
      addressPool: undefined,
      logFormat: 'text',
      logFile: '/dev/null',
      admin: local,
      metrics: local,
      readiness: local,
      shutdown: { minMs: 0, maxMs: 1000 },
      sessionKeys: readSessionKeys({}),
      state: undefined,
      bodyMemoryBytes: 2 ** 24,
      transport: 'auto',
      startThread: startThreadOf(worker),
      ...options,
    },
    { ...QUIET_EVENTS, ...events },
  )
}

/** Logs nothing. A bug fails the test. */
export const QUIET_EVENTS: InstanceEvents = {
  clusterChanged: () => {},
  objectsChanged: () => {},
  translated: () => {},
  applied: () => {},
  readiness: () => {},
  workerReplaced: () => {},
  secrets: () => {},
  accessLog: () => {},
  logLevels: { levels: { others: 'info' }, changeLevels: () => {} },
  message: () => {},
  labelFolded: () => {},
  bug: (_, stack) => {
    throw new Error(stack)
  },
}
