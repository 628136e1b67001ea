import { setTimeout as sleep } from 'node:timers/promises'
import { connectApi } from './api.ts'

/**
 * Does what a cloud does: gives each Service of type LoadBalancer an address of 10.201.0.0/24, which kube-proxy serves.
 *
 *     node load-balancers.ts SERVER CERTIFICATES
 */

interface Service {
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly spec: { readonly type?: string; readonly loadBalancerClass?: string; readonly loadBalancerIP?: string }
  readonly status: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } }
}

const INTERVAL_MS = 500
const [server, certificates] = process.argv.slice(2)
const api = connectApi(server!, certificates!)

for (;;) {
  try {
    await assignAddresses(await api.list<Service>('/api/v1/services'))
  } catch (error) {
    console.error(String(error))
  }
  await sleep(INTERVAL_MS)
}

async function assignAddresses(services: readonly Service[]): Promise<void> {
  const used = new Set(services.flatMap(({ status }) => status.loadBalancer?.ingress ?? []).map(({ ip }) => ip))
  for (const { metadata, spec, status } of services) {
    const has = (status.loadBalancer?.ingress ?? []).length > 0
    const wants = spec.type === 'LoadBalancer' && spec.loadBalancerClass === undefined
    if (has === wants) continue
    const ip = spec.loadBalancerIP ?? freeAddress(used)
    if (wants) used.add(ip)
    const loadBalancer = { ingress: wants ? [{ ip, ipMode: 'VIP' }] : null }
    await api.patch(`/api/v1/namespaces/${metadata.namespace}/services/${metadata.name}/status`, {
      status: { loadBalancer },
    })
    console.log(`${metadata.namespace}/${metadata.name} ${wants ? ip : 'released'}`)
  }
}

function freeAddress(used: ReadonlySet<string | undefined>): string {
  for (let last = 1; last < 255; last++) if (!used.has(`10.201.0.${last}`)) return `10.201.0.${last}`
  throw new Error('no address is free')
}
