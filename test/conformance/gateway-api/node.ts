import { isDeepStrictEqual } from 'node:util'
import type { ApiClient } from '#cluster/api-client.ts'
import { DeployedPods, type Deployment, keyOf } from './deployed-pods.ts'
import { endpointSlice, type Service } from './endpoint-slice.ts'

/** What runs pods in a cluster, as far as the suite needs it: a kubelet, and the controllers of Deployments and EndpointSlices. */
export class Node {
  readonly #api: ApiClient
  readonly #pods: DeployedPods
  /** By namespace and name of the Service. */
  readonly #slices = new Map<string, object>()
  #work: Promise<void> = Promise.resolve()

  /** @param echo the program of each pod @param folder for the files of volumes */
  constructor(api: ApiClient, echo: string, folder: string) {
    this.#api = api
    this.#pods = new DeployedPods(api, echo, folder)
  }

  deploy(deployment: Deployment): void {
    this.#pods.add(deployment)
    this.update()
  }

  withdraw(key: string): void {
    this.#queue(() => this.#pods.remove(key))
    this.update()
  }

  /** Starts pods and writes endpoints, after objects have changed. */
  update(): void {
    this.#queue(async () => {
      await this.#pods.startWaiting()
      await this.#writeEndpoints()
    })
  }

  /** What a pod has printed; undefined: there is no such pod. */
  log(namespace: string, name: string, sinceMs: number): string | undefined {
    return this.#pods.all.find((pod) => pod.namespace === namespace && pod.name === name)?.process.log(sinceMs)
  }

  #queue(work: () => Promise<void>): void {
    this.#work = this.#work.then(work)
  }

  async #writeEndpoints(): Promise<void> {
    const { body } = await this.#api.get('/api/v1/services')
    const services = body.items as readonly Service[]
    const names = new Set(services.map(({ metadata }) => keyOf(metadata)))
    for (const name of this.#slices.keys()) if (!names.has(name)) this.#slices.delete(name)
    for (const service of services) {
      const slice = endpointSlice(service, this.#pods.all)
      const key = keyOf(service.metadata)
      if (slice === undefined || isDeepStrictEqual(this.#slices.get(key), slice)) continue
      const { namespace, name } = service.metadata
      const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices/${name}-pods`
      await this.#api.apply(path, slice, { manager: 'conformance' })
      this.#slices.set(key, slice)
    }
  }
}
