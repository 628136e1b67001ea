import { BroadcastChannel, workerData } from 'node:worker_threads'
import type { WorkerStart } from '../messages.ts'

/** A proxy worker whose code does not return, and so blocks its event loop, when its name is sent on the channel `spin`. */
const { name } = workerData as WorkerStart
const CELL = new Int32Array(new SharedArrayBuffer(4))
const channel = new BroadcastChannel('spin')
// It listens as long as the worker runs, and does not keep it running.
channel.unref()
channel.onmessage = ({ data }: { data: unknown }) => {
  // It sleeps in its loop, so that it takes no processor from other tests.
  while (data === name) Atomics.wait(CELL, 0, 0, 10)
}
// From the bundle, as gateways load it: the sources need two seconds of processor time in each thread.
await import(new URL('../../../dist/proxy-worker.js', import.meta.url).href)
