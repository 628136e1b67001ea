import { accessOf, call } from './api-access.ts'
import { now } from './gateway-clock.ts'

/** Writes one object after the other, in a process of its own: that of the watchers is busy with what they get. */
export interface Written {
  /** When each write was sent, `now()`. */
  readonly sentMs: readonly number[]
  readonly writesPerSecond: number
}

const [kubeconfig = '', path = '', writes = '', perSecond = ''] = process.argv.slice(2)
const access = accessOf(kubeconfig)
const sentMs: number[] = []
const start = now()
for (let at = 0; at < Number(writes); at += 1) {
  const dueMs = start + (at * 1000) / Number(perSecond)
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - now())))
  sentMs.push(now())
  // One after the other, so that their order is known.
  await call(access, 'POST', path, { metadata: { name: `watched-${at}` }, data: { text: 'x'.repeat(500) } })
}
const writesPerSecond = (Number(writes) * 1000) / (now() - start)
process.send?.({ sentMs, writesPerSecond } satisfies Written)
process.disconnect?.()
