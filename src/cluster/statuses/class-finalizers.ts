import { findKind, isKind, type KnownObject } from '#api/kinds.ts'
import type { ApiObject } from '#api/object.ts'
import type { ObjectApi } from '../fenced-api.ts'
import { itemsOf, type Members, membersOf } from '../kubeconfig.ts'
import { objectPath } from '../object-path.ts'
import { WriteQueue } from '../write-queue.ts'

/** Keeps a class from being deleted while Gateways use it (Gateway API, GatewayClass). */
const FINALIZER = 'gateway-exists-finalizer.gateway.networking.k8s.io'

const CLASS = findKind('GatewayClass')!

export interface ClassFinalizersOptions {
  readonly client: Pick<ObjectApi, 'get' | 'replace'>
  /** `controllerName` of our classes. */
  readonly controller: string
  /** Called with a message for the log. */
  readonly failed: (message: string) => void
}

/** Keeps the finalizer of our GatewayClasses: present while a Gateway uses the class. */
export class ClassFinalizers implements Disposable {
  readonly #client: ClassFinalizersOptions['client']
  readonly #controller: string
  readonly #queue: WriteQueue<boolean>
  #known: ReadonlyMap<string, boolean> = new Map()

  constructor({ client, controller, failed }: ClassFinalizersOptions) {
    this.#client = client
    this.#controller = controller
    this.#queue = new WriteQueue({ write: (name, isUsed) => this.#write(name, isUsed), failed })
  }

  /** @param objects all of them */
  update(objects: readonly ApiObject[]): void {
    const wanted = usedClasses(objects as readonly KnownObject[], this.#controller)
    for (const [name, isUsed] of wanted) if (this.#known.get(name) !== isUsed) this.#queue.put(name, isUsed)
    this.#known = wanted
  }

  /** Finalizers that are not written yet. */
  get queued(): number {
    return this.#queue.length
  }

  [Symbol.dispose](): void {
    this.#queue[Symbol.dispose]()
  }

  /** @throws ApiUnreadable, with 409 if the class has changed meanwhile */
  async #write(name: string, isUsed: boolean): Promise<void> {
    const path = objectPath(CLASS, CLASS.versions[0], { namespace: '', name })
    const { status, body } = await this.#client.get(path)
    const next = status === 200 ? withFinalizer(body, isUsed) : undefined
    if (next !== undefined) await this.#client.replace(path, next)
  }
}

/** Our classes, and whether a Gateway uses them. */
function usedClasses(objects: readonly KnownObject[], controller: string): ReadonlyMap<string, boolean> {
  const used = new Set(objects.flatMap((object) => (isKind(object, 'Gateway') ? [object.spec.gatewayClassName] : [])))
  const own = objects.flatMap((object) =>
    isKind(object, 'GatewayClass') && object.spec.controllerName === controller ? [object.metadata.name] : [],
  )
  return new Map(own.map((name) => [name, used.has(name)]))
}

/** @returns undefined if nothing has to change */
function withFinalizer(object: Members, isUsed: boolean): Members | undefined {
  const metadata = membersOf(object.metadata)
  const finalizers = itemsOf(metadata.finalizers)
  if (finalizers.includes(FINALIZER) === isUsed) return undefined
  // An object that is being deleted takes no more finalizers.
  if (isUsed && metadata.deletionTimestamp !== undefined) return undefined
  const next = isUsed ? [...finalizers, FINALIZER] : finalizers.filter((finalizer) => finalizer !== FINALIZER)
  return { ...object, metadata: { ...metadata, finalizers: next } }
}
