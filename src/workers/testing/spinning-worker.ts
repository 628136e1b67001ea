import { BroadcastChannel, workerData } from 'node:worker_threads'
import '../proxy-worker.ts'
import type { WorkerStart } from '../messages.ts'

/** A proxy worker that blocks its event loop when its name is sent on the channel `spin`. */
const { name } = workerData as WorkerStart
const channel = new BroadcastChannel('spin')
channel.onmessage = ({ data }: { data: unknown }) => {
  while (data === name);
}
