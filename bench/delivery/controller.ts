import { setTimeout as sleep } from 'node:timers/promises'
import { createSecureContext } from 'node:tls'
import { type ApiObject, keyOf } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'
import { BEHIND_SERVICES } from '#cluster/statuses/behind-services.ts'
import type { Authorise } from '#deliver/plan-server.ts'
import { PlanServer } from '#deliver/plan-server.ts'
import { ControlPlane } from '#instance/control-plane.ts'
import { PlanChecks } from '#instance/plan-checks.ts'
import { ServedProxies } from '#instance/served-proxies.ts'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import type { ObjectSource, Statuses } from '#store/store.ts'
import { now } from '../config/gateway-clock.ts'
import { peakMemoryMb } from '../config/peak-memory.ts'
import { OTHER_SERVICES, objectsOf, route, type Scale, slice } from './objects.ts'

/**
 * A process with what a controller has for its proxies, without a cluster: objects are in memory, and a token says what proxy it is of.
 * It is told what to change, and says what that cost.
 */

export interface Edit {
  /** `reference`: of a route, to a Service that no other route uses. */
  readonly of: 'route' | 'reference' | 'endpoints'
  /** Unlike that of the edit before. */
  readonly number: number
}

/** An edit has no answer; `cost` has one when the effects of the last edit are over. */
export type Order = Edit | 'cost'

/** The work since the last edit or answer. */
export interface Answer {
  readonly port: number
  /** When the last change began, `now()`. */
  readonly changedAtMs: number
  readonly cpuMs: number
  readonly statusWrites: number
  /** Live objects after a garbage collection. */
  readonly heapMb: number
  readonly peakMb: number
}

/** Nothing has happened for so long: what a change causes is over. Proxies wait 50 ms before they report. */
const QUIET_MS = 200

const scale = JSON.parse(process.argv[2]!) as Scale

/** Objects in memory, which only the bench changes. */
class EditedObjects implements ObjectSource, Statuses {
  readonly #objects: Map<string, ApiObject>
  readonly #statuses = new Map<string, unknown>()
  #change: ObjectChange
  #changed: () => void = () => {}
  statusWrites = 0

  constructor(objects: readonly ApiObject[]) {
    this.#objects = new Map(objects.map((object) => [keyOf(object), object]))
    this.#change = { set: objects, removed: [] }
  }

  edit(object: ApiObject): void {
    this.#objects.set(keyOf(object), object)
    this.#change = { set: [object], removed: [] }
    this.#changed()
  }

  takeChange(): ObjectChange {
    return this.#change
  }

  list(): readonly ApiObject[] {
    return [...this.#objects.values()]
  }

  subscribe(onChange: () => void): () => void {
    this.#changed = onChange
    return () => {}
  }

  statusOf(key: string): unknown {
    return this.#statuses.get(key)
  }

  writeStatuses({ written, withdrawn }: Parameters<Statuses['writeStatuses']>[0]): void {
    this.statusWrites += written.length
    for (const [key, status] of written) this.#statuses.set(key, status)
    for (const key of withdrawn) this.#statuses.delete(key)
  }

  unknownProtection = () => []
  problems = () => []
  refusedEdits = () => new Map<string, string>()
  close(): void {}
}

const authorise: Authorise = async (metadata) => {
  const [, gateway, identity] = /^Bearer ([^.]+)\.([^.]+)$/.exec(metadata.get('authorization') ?? '')!
  return { gateway: `Gateway/default/${gateway}`, identity: `default/${identity}` }
}

const reportBug = (error: unknown) => {
  throw error
}

let version = 0
let activeAtMs = now()
const objects = new EditedObjects(objectsOf(scale))
const checks = new PlanChecks(({ error }) => reportBug(error))
const proxies = new ServedProxies({
  reports: {
    reported: (...report) => control.reports.reported(...report),
    observed: (...fact) => control.reports.observed(...fact),
  },
  version: () => version,
  refused: (_, { message }) => reportBug(new Error(message)),
})
const tls = createSecureContext({ ...CERTIFICATES.server, minVersion: 'TLSv1.2' })
const server = new PlanServer({
  host: '127.0.0.1',
  port: 0,
  tls: () => tls,
  authorise,
  changed: (proxy) => {
    proxies.changed(proxy)
    activeAtMs = now()
  },
  left: (proxy) => proxies.left(proxy),
  refused: (_, why) => reportBug(new Error(why)),
  reportBug,
})
const control: ControlPlane = new ControlPlane({
  store: objects,
  addresses: BEHIND_SERVICES,
  plans: {
    take(delta) {
      version = delta.version
      server.take(delta)
      return checks.take(delta)
    },
  },
  takes: () => {},
  taken: () => {},
  translated: () => {},
  onFault: ({ error }) => reportBug(error),
})

const port = await server.listen()
control.start()
server.open()

let cpuBefore = process.cpuUsage()
let changedAtMs = now()

const EDITS: Readonly<Record<Edit['of'], (number: number) => ApiObject>> = {
  route: (number) => route(scale, 0, number),
  reference: (number) => route(scale, 0, 0, OTHER_SERVICES[number % OTHER_SERVICES.length]),
  endpoints: (number) => slice(0, number),
}

function begin(): void {
  cpuBefore = process.cpuUsage()
  objects.statusWrites = 0
  changedAtMs = now()
  activeAtMs = changedAtMs
}

function apply({ of, number }: Edit): void {
  const object = EDITS[of](number)
  begin()
  objects.edit(object)
}

async function answer(): Promise<void> {
  while (now() - activeAtMs < QUIET_MS) await sleep(QUIET_MS / 4)
  const { user, system } = process.cpuUsage(cpuBefore)
  const { statusWrites } = objects
  gc!()
  const heapMb = process.memoryUsage().heapUsed / 1e6
  const cpuMs = (user + system) / 1000
  process.send!({ port, changedAtMs, cpuMs, statusWrites, heapMb, peakMb: peakMemoryMb(process.pid) } satisfies Answer)
  begin()
}

process.on('message', (order: Order) => {
  if (order === 'cost') void answer()
  else apply(order)
})
process.on('disconnect', () => process.exit())
await answer()
