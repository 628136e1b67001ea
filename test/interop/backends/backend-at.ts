import { backendYaml, joinYaml, routeYaml } from '../../support/objects-folder.ts'
import { policyYaml } from '../../support/policy-yaml.ts'
import type { Front } from '../front.ts'

/** A ProxyBackend of that name at a loopback port with this section `backend`, and a route to it under `/<name>`. */
export function backendAt(name: string, port: number, backend: object): string {
  const policy = Object.keys(backend).length === 0 ? [] : [policyYaml(name, 'ProxyBackend', name, { backend })]
  return joinYaml(backendYaml(name, port), routeYaml(name, `/${name}`, name), ...policy)
}

/** The status of an answer, and the last `failure` in its record (`docs/behaviour/wire.md`, "Failures"). */
export async function answerOf(
  front: Front,
  path: string,
  init: RequestInit = {},
): Promise<readonly [status: number, failure: string | undefined]> {
  const response = await front.ask(path, init)
  await response.arrayBuffer()
  const id = response.headers.get('gatewright-decision') ?? ''
  const report = await fetch(`${front.gateway.url(15000)}/decisions?id=${encodeURIComponent(id)}`)
  const failures = [...(await report.text()).matchAll(/"failure":\s*"([^"]+)"/g)].map(([, failure]) => failure)
  return [response.status, failures.at(-1)]
}

/** How many of these requests, `together` at once, had each status. */
export async function statusesOf(
  front: Front,
  path: string,
  count: number,
  together: number,
): Promise<Readonly<Record<number, number>>> {
  const statuses: Record<number, number> = {}
  let asked = 0
  const ask = async () => {
    while (asked++ < count) {
      const response = await front.ask(path)
      await response.arrayBuffer()
      statuses[response.status] = (statuses[response.status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: together }, ask))
  return statuses
}
