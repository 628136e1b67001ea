import { EventEmitter } from 'node:events'
import { MessageChannel, type Transferable } from 'node:worker_threads'
import type { WorkerStart } from '#workers/messages.ts'
import { runProxyWorker, type WorkerSurroundings } from '#workers/run-proxy-worker.ts'
import type { WorkerThread } from '#workers/worker-pool.ts'

/** A proxy worker in this thread. Messages between it and the main thread are copied as between threads. */
export function startWorkerHere(start: WorkerStart, around: WorkerSurroundings): WorkerThread {
  const { port1, port2 } = new MessageChannel()
  const events = new EventEmitter()
  port1.on('message', (message) => events.emit('message', message))
  port1.on('close', () => events.emit('exit', 0))
  runProxyWorker(start, port2, around).catch((error) => {
    events.emit('error', error)
    port2.close()
  })
  return Object.assign(events, {
    postMessage: (message: unknown, moved: Transferable[] = []) => port1.postMessage(message, moved),
    terminate: async () => {
      port1.close()
      return 0
    },
    performance,
  })
}
