import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ApiClient } from '#cluster/api-client.ts'
import { PodProcess } from './pod-process.ts'

/** The members of a Deployment that pods are made of, with the names of Kubernetes. */
export interface Deployment {
  readonly metadata: { readonly namespace: string; readonly name: string }
  readonly spec: {
    readonly replicas?: number
    readonly template: {
      readonly metadata: { readonly labels: Labels }
      readonly spec: { readonly containers: readonly [Container]; readonly volumes?: readonly Volume[] }
    }
  }
}

export type Labels = Readonly<Record<string, string>>

interface Container {
  readonly name: string
  readonly image: string
  readonly env?: readonly {
    readonly name: string
    readonly value?: string
    readonly valueFrom?: { readonly fieldRef: { readonly fieldPath: string } }
  }[]
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[]
}

interface Volume {
  readonly name: string
  readonly secret?: { readonly secretName: string; readonly items: readonly VolumeItem[] }
  readonly configMap?: { readonly name: string; readonly items: readonly VolumeItem[] }
}

interface VolumeItem {
  readonly key: string
  readonly path: string
}

export interface Pod {
  readonly namespace: string
  readonly name: string
  readonly labels: Labels
  readonly process: PodProcess
}

/** Runs the pods of Deployments as processes: echo servers, whatever their image. */
export class DeployedPods {
  readonly #api: ApiClient
  readonly #program: string
  readonly #folder: string
  readonly #deployments = new Map<string, { readonly deployment: Deployment; pods: readonly Pod[] }>()
  #started = 0

  /** @param folder for the files of volumes */
  constructor(api: ApiClient, program: string, folder: string) {
    this.#api = api
    this.#program = program
    this.#folder = folder
  }

  get all(): readonly Pod[] {
    return [...this.#deployments.values()].flatMap(({ pods }) => pods)
  }

  /** Its pods start with the next `startWaiting`. */
  add(deployment: Deployment): void {
    this.#deployments.set(keyOf(deployment.metadata), { deployment, pods: [] })
  }

  async remove(key: string): Promise<void> {
    const pods = this.#deployments.get(key)?.pods ?? []
    this.#deployments.delete(key)
    for (const { process, namespace, name } of pods) {
      process.stop()
      await this.#api.delete(`/api/v1/namespaces/${namespace}/pods/${name}`)
    }
  }

  /** Starts the pods that have not started, and whose volumes exist. */
  async startWaiting(): Promise<void> {
    const waiting = [...this.#deployments.values()].filter(({ pods }) => pods.length === 0)
    for (const entry of waiting) {
      const files = await this.#writeVolumes(entry.deployment)
      if (files === undefined) continue
      const pods: Pod[] = []
      for (let at = 0; at < (entry.deployment.spec.replicas ?? 1); at++) {
        pods.push(await this.#start(entry.deployment, files))
      }
      entry.pods = pods
    }
  }

  async #start({ metadata, spec }: Deployment, files: Labels): Promise<Pod> {
    const { namespace } = metadata
    // Name of the Deployment, and two parts, which the suite takes away.
    const name = `${metadata.name}-pod-${++this.#started}`
    const [container] = spec.template.spec.containers
    const { labels } = spec.template.metadata
    const fields: Labels = { 'metadata.name': name, 'metadata.namespace': namespace }
    const env = (container.env ?? []).map(({ name, value, valueFrom }) => {
      const text = valueFrom === undefined ? (value ?? '') : fields[valueFrom.fieldRef.fieldPath]!
      return [name, files[text] ?? text] as const
    })
    const process = await PodProcess.start(this.#started, this.#program, Object.fromEntries(env))
    const pods = `/api/v1/namespaces/${namespace}/pods`
    const { body } = await this.#api.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace, name, labels },
      spec: { containers: [{ name: container.name, image: container.image }] },
    })
    const podIP = process.address
    const status = {
      phase: 'Running',
      podIP,
      podIPs: [{ ip: podIP }],
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: new Date().toISOString() }],
    }
    await this.#api.replace(`${pods}/${name}/status`, { ...body, status })
    return { namespace, name, labels, process }
  }

  /** @returns the files by their paths in the container; undefined: a volume is missing */
  async #writeVolumes({ metadata, spec }: Deployment): Promise<Labels | undefined> {
    const files: Record<string, string> = {}
    const [container] = spec.template.spec.containers
    for (const { name, secret, configMap } of spec.template.spec.volumes ?? []) {
      const source = secret === undefined ? `configmaps/${configMap!.name}` : `secrets/${secret.secretName}`
      const { status, body } = await this.#api.get(`/api/v1/namespaces/${metadata.namespace}/${source}`)
      if (status === 404) return undefined
      const mount = container.volumeMounts?.find((one) => one.name === name)?.mountPath ?? ''
      for (const { key, path } of (secret ?? configMap!).items) {
        const file = join(this.#folder, keyOf(metadata), name, path)
        mkdirSync(dirname(file), { recursive: true })
        const text = (body.data as Labels)[key]!
        writeFileSync(file, secret === undefined ? text : Buffer.from(text, 'base64'))
        files[`${mount}/${path}`] = file
      }
    }
    return files
  }
}

export function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`
}
