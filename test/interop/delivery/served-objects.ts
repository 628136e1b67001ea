import type { ApiObject } from '#api/object.ts'
import { Translator } from '#control/translator.ts'
import { type Authorise, PlanServer, type PlanServerOptions } from '#deliver/plan-server.ts'
import type { ServedProxy } from '#deliver/proxy-stream.ts'
import type { PlanItem } from '#plan/item.ts'
import { GATEWAY } from './plan.ts'

/** The one that is admitted. */
export const TOKEN = 'right-token'

const authorise: Authorise = async (metadata) =>
  metadata.get('authorization') === `Bearer ${TOKEN}`
    ? { gateway: GATEWAY, identity: 'go' }
    : { status: 'unauthenticated', message: 'the token is wrong' }

/** A server of plans in this process, with the plan of objects that change. */
export class ServedObjects {
  readonly server: PlanServer
  readonly #translator = new Translator()
  #version = 0

  private constructor(options: Partial<PlanServerOptions>) {
    const reportBug = (error: unknown) => console.error(error)
    this.server = new PlanServer({ host: '127.0.0.1', port: 0, authorise, reportBug, ...options })
  }

  static async start(
    stops: AsyncDisposableStack,
    objects: readonly ApiObject[],
    options: Partial<PlanServerOptions> = {},
  ): Promise<ServedObjects & { readonly port: number }> {
    const served = new ServedObjects(options)
    served.put(...objects)
    const port = await served.server.listen()
    stops.defer(() => served.server.close())
    served.server.open()
    return Object.assign(served, { port })
  }

  put(...set: readonly ApiObject[]): void {
    this.server.take({ version: ++this.#version, ...this.#translator.apply({ set, removed: [] }) })
  }

  remove(...removed: readonly ApiObject[]): void {
    this.server.take({ version: ++this.#version, ...this.#translator.apply({ set: [], removed }) })
  }

  /** Items that no object makes. */
  putItems(...set: readonly PlanItem[]): void {
    this.server.take({ version: ++this.#version, set, removed: [] })
  }

  get proxies(): readonly ServedProxy[] {
    return [...this.server.proxies]
  }
}
