import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { verifies } from '#test/support/verifies.ts'
import { runCommandLine } from '../program.ts'

// biome-ignore lint/suspicious/noExplicitAny: objects of all kinds
type Stored = Record<string, any>

/** A Kubernetes API with objects by path, whose controllers a test plays. */
class Cluster {
  readonly objects = new Map<string, Stored>()
  readonly writes: string[] = []
  /** What controllers do, before each answer. */
  control: (objects: Map<string, Stored>) => void = () => {}
  readonly #server = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    const { pathname: path, search } = new URL(request.url!, 'http://x')
    this.control(this.objects)
    if (request.method !== 'GET') this.writes.push(`${request.method} ${path}${search}`)
    if (request.method === 'PATCH') this.#apply(path, JSON.parse(text))
    const found = this.objects.get(path)
    if (request.method === 'DELETE' && found !== undefined) found.metadata.deletionTimestamp = 'now'
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(found ?? { kind: 'Status', message: 'not found' }))
  })

  #apply(path: string, object: Stored): void {
    const { stringData, ...rest } = object
    const data = Object.entries(stringData ?? {}).map(([name, value]) => [name, btoa(value as string)])
    const before = this.objects.get(path)
    const generation = (before?.metadata.generation ?? 0) + 1
    const metadata = { ...before?.metadata, ...object.metadata, generation }
    this.objects.set(path, { ...before, ...rest, metadata, ...(stringData ? { data: Object.fromEntries(data) } : {}) })
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const file = join(temporaryFolder(), 'config')
    const server = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    const named = {
      clusters: [{ name: 'c', cluster: { server } }],
      contexts: [{ name: 'c', context: { cluster: 'c' } }],
    }
    writeFileSync(file, JSON.stringify({ ...named, 'current-context': 'c' }))
    return file
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

const NAMESPACE = '/api/v1/namespaces/idp'
const SERVICE = `${NAMESPACE}/services/identity-provider`
const DEPLOYMENT = '/apis/apps/v1/namespaces/idp/deployments/identity-provider'

let cluster: Cluster
let kubeconfig: string
let printed: string[]

beforeEach(async () => {
  cluster = new Cluster()
  kubeconfig = await cluster.start()
  printed = []
  for (const name of ['log', 'error'] as const)
    vi.spyOn(console, name).mockImplementation((line) => void printed.push(line))
  // Between two questions of a command.
  vi.spyOn(clock, 'after').mockImplementation((_, run) => {
    setImmediate(run)
    return { cancel: () => {} }
  })
})
afterEach(() => {
  cluster.stop()
  vi.restoreAllMocks()
})

function idp(command: string, ...more: readonly string[]): Promise<number> {
  return runCommandLine(['idp', command, '--kubeconfig', kubeconfig, '--namespace', 'idp', ...more])
}

/** The Deployment is rolled out with the third request that asks for it, and the Service has an address two requests later. */
function controllers(): (objects: Map<string, Stored>) => void {
  let requests = 0
  return (objects) => {
    const deployment = objects.get(DEPLOYMENT)
    if (deployment === undefined) return
    requests += 1
    const { generation } = deployment.metadata
    const isReady = requests > 2
    deployment.status = {
      observedGeneration: generation,
      replicas: 1,
      updatedReplicas: 1,
      availableReplicas: isReady ? 1 : 0,
    }
    if (requests > 4) objects.get(SERVICE)!.status = { loadBalancer: { ingress: [{ ip: '10.0.0.7' }] } }
  }
}

verifies(
  ['idp/step-1-namespace', 'idp/step-1-rollout', 'idp/step-2-url'],
  'deploy applies the provider, waits for its rollout, and prints its address',
  async () => {
    cluster.control = controllers()
    expect(await idp('deploy')).toBe(0)
    expect([...cluster.objects.keys()]).toEqual([
      NAMESPACE,
      `${NAMESPACE}/secrets/identity-provider`,
      SERVICE,
      DEPLOYMENT,
    ])
    expect(cluster.objects.get(DEPLOYMENT)!.status.availableReplicas).toBe(1)
    const { spec } = cluster.objects.get(SERVICE)!
    expect([spec.type, spec.ports[0].port]).toEqual(['LoadBalancer', 8080])
    const text = printed.join('\n')
    const password = atob(cluster.objects.get(`${NAMESPACE}/secrets/identity-provider`)!.data.password)
    expect(text).toContain('http://10.0.0.7:8080')
    expect(text).toContain(`admin  admin, password ${password}`)
    expect(printed.at(-1)).toBe(
      `Next: bin/gatewright idp setup --url http://10.0.0.7:8080 --admin-password ${password}`,
    )
    expect(text.indexOf('rollout is complete')).toBeLessThan(text.indexOf('http://10.0.0.7:8080'))

    // Again: the password stays, and is not printed.
    printed.length = 0
    expect(await idp('deploy')).toBe(0)
    expect(atob(cluster.objects.get(`${NAMESPACE}/secrets/identity-provider`)!.data.password)).toBe(password)
    expect(printed.join('\n')).not.toContain(password)
    expect(printed.join('\n')).toContain('kubectl get secret identity-provider -n idp -o jsonpath=')
  },
)

verifies('idp/step-12-cleanup', 'delete removes the namespace, and waits until it is gone', async () => {
  cluster.control = controllers()
  await idp('deploy')
  let requests = 0
  cluster.control = (objects) => {
    const isDeleted = objects.get(NAMESPACE)?.metadata.deletionTimestamp !== undefined
    if (isDeleted && ++requests > 1) objects.clear()
  }
  expect([await idp('delete'), printed.at(-1)]).toEqual([0, expect.stringContaining('is gone')])
  expect(cluster.objects.size).toBe(0)
  expect(cluster.writes.at(-1)).toBe(`DELETE ${NAMESPACE}`)
  expect(await idp('delete')).toBe(0)
  expect(printed.at(-1)).toContain('unchanged')
})

describe('what is refused', () => {
  test.each(['deploy', 'delete'])('%s leaves a namespace of somebody else alone', async (command) => {
    cluster.objects.set(NAMESPACE, { metadata: { name: 'idp', labels: { team: 'a' } } })
    expect(await idp(command)).toBe(1)
    expect(cluster.writes).toEqual([])
    expect(printed.at(-1)).toContain('it is not ours')
  })

  test('a rollout that fails says why', async () => {
    cluster.control = (objects) => {
      const deployment = objects.get(DEPLOYMENT)
      if (deployment === undefined) return
      const why = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message: 'no image' }
      deployment.status = { observedGeneration: deployment.metadata.generation, conditions: [why] }
    }
    expect(await idp('deploy')).toBe(1)
    expect(printed.at(-1)).toContain('the rollout failed: no image')
  })

  test('a rollout that takes too long says how far it is', async () => {
    expect(await idp('deploy', '--timeout', '0')).toBe(1)
    expect(printed.at(-1)).toContain('the Deployment has not been observed yet')
  })

  test.each([
    ['--namespace', 'A/b'],
    ['--timeout', 'soon'],
  ])('%s %s is a mistake', async (option, value) => {
    expect(await idp('deploy', option, value)).toBe(2)
    expect(cluster.writes).toEqual([])
  })
})
