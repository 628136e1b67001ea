import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startGatewayProcess } from '#test/support/gateway-process.ts'
import { createObjectsFolder } from '#test/support/objects-folder.ts'
import { type ApiAccess, accessOf } from './api-access.ts'
import { now } from './gateway-clock.ts'
import { peakMemoryMb } from './peak-memory.ts'
import type { Written } from './writer.ts'

/** Many clients that watch while objects are written through the API. */
export interface WatchersMeasured {
  /** Events that a watcher did not get, got twice, or got in another order. */
  readonly wrong: number
  /** From a write until the last watcher has its event: median and longest. */
  readonly medianMs: number
  readonly longestMs: number
  /** Writes in a second that were acknowledged. */
  readonly writesPerSecond: number
  /** Processor time of the gateway for each event. */
  readonly cpuMicroseconds: number
  /** Most resident memory of the gateway. */
  readonly peakMb: number
}

const PATH = '/api/v1/namespaces/default/configmaps'
/** Watches that begin at the same time. */
const TOGETHER = 50
/** After the last write. */
const LOST_AFTER_MS = 30_000
const LINE_END = 0x0a
/** Where an event has its name. */
const HEAD_BYTES = 200

/** What one watcher gets: the objects of the writes, in their order. */
class Watcher {
  #rest: Buffer = Buffer.alloc(0)
  /** The number of the next write. */
  next = 0
  wrong = 0
  readonly #took: (write: number) => void

  constructor(took: (write: number) => void) {
    this.#took = took
  }

  read(piece: Buffer): void {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece])
    let start = 0
    for (let end = bytes.indexOf(LINE_END); end >= 0; end = bytes.indexOf(LINE_END, start)) {
      this.#take(bytes.toString('latin1', start, Math.min(end, start + HEAD_BYTES)))
      start = end + 1
    }
    this.#rest = bytes.subarray(start)
  }

  #take(event: string): void {
    const name = /"name":"watched-(\d+)"/.exec(event)?.[1]
    // Other ConfigMaps were there before.
    if (name === undefined) return
    if (Number(name) !== this.next) this.wrong += 1
    this.next = Number(name) + 1
    this.#took(Number(name))
  }
}

/** Begins a watch. @returns a function that ends it */
function watch({ server, options }: ApiAccess, watcher: Watcher): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const sent = request(`${server}${PATH}?watch=1`, { ...options, agent: false }, (response) => {
      response.on('data', (piece: Buffer) => watcher.read(piece))
      resolve(() => sent.destroy())
    })
    sent.once('error', reject)
    sent.end()
  })
}

/** Writes objects in another process. */
async function write(kubeconfig: string, writes: number, perSecond: number): Promise<Written> {
  const child = fork(join(process.cwd(), 'bench/config/writer.ts'), [kubeconfig, PATH, `${writes}`, `${perSecond}`])
  const [written] = await once(child, 'message')
  return written as Written
}

/** @param perSecond writes per second */
export async function measureWatchers(count: number, writes: number, perSecond: number): Promise<WatchersMeasured> {
  const state = mkdtempSync(join(tmpdir(), 'bench-watchers-'))
  const folder = await createObjectsFolder({ 'class.yaml': CLASS })
  const environment = { GATEWRIGHT_API_ADDR: '127.0.0.1:0' }
  const gateway = await startGatewayProcess({
    files: [folder.path],
    workers: 1,
    stateFolder: state,
    environment,
  })
  const open: (() => void)[] = []
  try {
    const pid = gateway.process.pid!
    const kubeconfig = join(state, 'kubeconfig')
    const access = accessOf(kubeconfig)
    const left = new Array<number>(writes).fill(count)
    /** When the last watcher got each write. */
    const tookMs = new Map<number, number>()
    const took = (write: number) => {
      left[write] = left[write]! - 1
      if (left[write] === 0) tookMs.set(write, now())
    }
    const watchers = Array.from({ length: count }, () => new Watcher(took))
    for (let at = 0; at < count; at += TOGETHER) {
      open.push(...(await Promise.all(watchers.slice(at, at + TOGETHER).map((watcher) => watch(access, watcher)))))
    }
    const cpu = cpuSeconds(pid)
    const { sentMs, writesPerSecond } = await write(kubeconfig, writes, perSecond)
    const ended = now()
    while (tookMs.size < writes && now() - ended < LOST_AFTER_MS) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    const sorted = [...tookMs].map(([at, ms]) => ms - sentMs[at]!).sort((a, b) => a - b)
    return {
      wrong: watchers.reduce((sum, { wrong, next }) => sum + wrong + (writes - next), 0),
      medianMs: sorted[sorted.length >> 1] ?? Number.POSITIVE_INFINITY,
      longestMs: sorted.at(-1) ?? Number.POSITIVE_INFINITY,
      writesPerSecond,
      cpuMicroseconds: ((cpuSeconds(pid) - cpu) * 1e6) / (count * writes),
      peakMb: peakMemoryMb(pid),
    }
  } finally {
    for (const end of open) end()
    await gateway.close()
    await folder.remove()
    rmSync(state, { recursive: true, force: true })
  }
}

const CLASS = `apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: gatewright }
spec: { controllerName: gatewright.dev/controller }
`

/** User and system time of a process, from ticks of a hundredth of a second (proc(5)). */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}
