import { parentPort, workerData } from 'node:worker_threads'
import type { FromWorker, ToWorker, WorkerStart } from '../messages.ts'

// A worker without a proxy. `w2` stops accepting after `w1` has; each records its state when it gets the message to drain.

const { name, slots } = workerData as WorkerStart
const words = new Int32Array(slots.words)
const own = Number(name.slice(1))

function tell(message: FromWorker): void {
  parentPort!.postMessage(message)
}

parentPort!.on('message', (message: ToWorker) => {
  if (message.kind === 'plan') tell({ kind: 'applied', version: 1, failed: [] })
  else if (message.kind === 'stop-accepting') {
    if (own === 2) Atomics.wait(words, 1, 0)
    Atomics.store(words, own, 1)
    Atomics.notify(words, own)
    tell({ kind: 'stopped-accepting' })
  } else if (message.kind === 'drain') {
    Atomics.store(words, 2 + own, Atomics.load(words, 1) + Atomics.load(words, 2))
    parentPort!.close()
  }
})
