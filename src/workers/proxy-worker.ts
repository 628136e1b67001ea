import { parentPort, workerData } from 'node:worker_threads'
import { openStandardOutput } from '#observe/log/open-log.ts'
import { catchWarnings } from './catch-warnings.ts'
import type { FromWorker, WorkerStart } from './messages.ts'
import { releaseMemoryOfStart, releaseYoungGeneration } from './release-memory.ts'
import { runProxyWorker } from './run-proxy-worker.ts'

/** Entry of a proxy thread. */
const port = parentPort!

catchWarnings((fields) => {
  port.postMessage({
    kind: 'message',
    module: 'workers',
    level: 'warn',
    message: 'runtime warning',
    fields,
  } satisfies FromWorker)
})
const memoryOfStart = releaseMemoryOfStart()
const youngGeneration = releaseYoungGeneration()
port.on('close', () => {
  memoryOfStart.cancel()
  youngGeneration.cancel()
})
await runProxyWorker(workerData as WorkerStart, port, {
  environment: process.env,
  standardOutput: openStandardOutput(),
})
