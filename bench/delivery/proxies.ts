import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { PlanClient } from '#deliver/plan-client.ts'
import { VERSION } from '#instance/version.ts'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import type { PlanDelta } from '#plan/delta.ts'
import type { PlanTarget } from '#plan/plan-link.ts'
import { socketKey } from '#plan/socket.ts'
import { now } from '../config/gateway-clock.ts'
import { scratchFolder } from '../scratch-folder.ts'
import { gatewayName, type Scale } from './objects.ts'

/** A process with many proxies without a data plane. They report everything as in force at once, and store nothing. */

export interface ProxiesOrder {
  /** Answer when so many proxies have got a change. */
  readonly changed: number
}

/** What came since the last answer. */
export interface ProxiesAnswer {
  /** When the last of them had its change, `now()`. */
  readonly lastAtMs: number
  /** Received by all, with TLS and HTTP/2. */
  readonly bytes: number
}

/** An edit may reach a proxy in several changes; after so long without one, all are there. */
const QUIET_MS = 300

/** Connections that begin together. */
const TOGETHER = 20

const scale = JSON.parse(process.argv[2]!) as Scale
const controllerPort = Number(process.argv[3])
const folder = scratchFolder()
process.on('disconnect', () => process.exit())

let bytes = 0
let connections = 0
/** Between the proxies and the controller, which admits a few connections of each address only: counts bytes. */
const relay = createServer((proxy) => {
  const number = connections++
  const localAddress = `127.1.${number >> 8}.${number & 255}`
  const controller = connect({ host: '127.0.0.1', port: controllerPort, localAddress })
  controller.on('data', (piece) => (bytes += piece.length))
  const pass = (from: Socket, to: Socket) => {
    from.setNoDelay()
    from.pipe(to)
    from.on('error', () => to.destroy())
  }
  pass(proxy, controller)
  pass(controller, proxy)
})
relay.listen(0, '127.0.0.1')
await once(relay, 'listening')
const { port } = relay.address() as { port: number }

const file = (name: string, text: string) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const caFile = file('ca.crt', CERTIFICATES.ca)

const changed = new Set<number>()
let wanted = scale.proxies
let lastAtMs = 0
let quiet: NodeJS.Timeout | undefined

function took(proxy: number): void {
  lastAtMs = now()
  changed.add(proxy)
  startMore()
  if (changed.size < wanted) return
  clearTimeout(quiet)
  quiet = setTimeout(answer, QUIET_MS)
}

function answer(): void {
  process.send!({ lastAtMs, bytes } satisfies ProxiesAnswer)
  bytes = 0
  changed.clear()
}

process.on('message', ({ changed }: ProxiesOrder) => {
  wanted = changed
})

const BOUND = new Map([[socketKey({ address: '0.0.0.0', port: 80 }), { state: 'bound' } as const]])
let open = 0
function start(number: number): void {
  const gateway = gatewayName(number % scale.gateways)
  const target: PlanTarget = {
    take({ version }: PlanDelta) {
      setImmediate(() => {
        if (version === 1) client.bound(version, BOUND)
        client.inForce(version)
      })
      took(number)
      return new Map()
    },
  }
  const client = new PlanClient({
    url: `https://127.0.0.1:${port}`,
    caFile,
    tokenFile: file(`token-${number}`, `${gateway}.proxy-${number}`),
    identity: `proxy-${number}`,
    version: VERSION,
    target,
    log: (level, message, fields) => {
      if (level !== 'info') console.error(number, message, fields)
    },
    reportBug: (error) => {
      throw error
    },
  })
  client.start()
}

function startMore(): void {
  while (open < scale.proxies && open < changed.size + TOGETHER) start(open++)
}

startMore()
