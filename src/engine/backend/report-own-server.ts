import { backendPath } from '#plan/backend-path.ts'
import type { BackendItem } from '#plan/item.ts'
import type { CompileContext } from '#policies/policy.ts'
import type { Address } from '#protocols/address.ts'
import type { SharedState } from '../merge/compile-context.ts'

const NAMES = { admin: 'admin server', api: 'resource API', metrics: 'metrics server', readiness: 'readiness server' }

/** Reports addresses of the servers of the gateway itself that are for operators (decision A-138). */
export function reportOwnServer(
  item: BackendItem,
  addresses: readonly Address[],
  context: CompileContext,
  { forwardRules }: Pick<SharedState, 'forwardRules'>,
): void {
  for (const { host, port, unixPath, chosenByClient } of addresses) {
    if (forwardRules === undefined || unixPath !== undefined || chosenByClient === true) continue
    const server = forwardRules.serverAt(host, port)
    if (server === undefined) continue
    const isRefused = forwardRules.refuseConfigured(host, port) !== undefined
    const consequence = isRefused ? 'requests get status 403' : 'every client of its routes can read it'
    const path = item.type === 'service' ? 'spec.ports' : backendPath(item)
    const source = { spec: item.spec, origin: item.origin, path, target: item.key }
    const message = `${host}:${port} is the ${NAMES[server]} of the gateway itself; ${consequence}`
    context.report(source, '', { code: 'backend-is-gateway', message, severity: isRefused ? 'error' : 'warning' })
  }
}
