import { parentPort, workerData } from 'node:worker_threads'
import { applyDelta, type PlanDelta } from '#plan/delta.ts'
import type { PlanItem } from '#plan/item.ts'
import { createProxy } from '#proxy/proxy.ts'
import type { FromWorker, ToWorker, WorkerStart } from './messages.ts'

/** Entry of a proxy thread: hears of plans from the main thread and serves traffic on them. */
const start = workerData as WorkerStart
const port = parentPort!

let items: ReadonlyMap<string, PlanItem> = new Map()
const proxy = createProxy({
  name: start.name,
  slots: { words: new Int32Array(start.slots) },
  logFormat: start.logFormat,
  sessionKey: start.sessionKey,
  tellMetrics: (news) => tell({ kind: 'metrics', news }),
})

function tell(message: FromWorker): void {
  port.postMessage(message)
}

async function hear(message: ToWorker): Promise<void> {
  if (message.kind === 'plan') {
    const delta = JSON.parse(message.delta) as PlanDelta
    items = applyDelta(items, delta)
    const failed = await proxy.update(items, new Map(message.slots), message.sockets)
    tell({ kind: 'applied', version: delta.version, failed })
  } else if (message.kind === 'records') {
    tell({ kind: 'records', request: message.request, records: proxy.records() })
  } else {
    await proxy.drain(message.minMs, message.maxMs)
    tell({ kind: 'drained' })
    port.close()
  }
}

// One message after the other: a plan is fully in force before the next one is looked at.
let last: Promise<void> = Promise.resolve()
port.on('message', (message: ToWorker) => {
  last = last.then(() => hear(message))
})
