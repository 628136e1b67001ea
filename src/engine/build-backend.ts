import type { PlaceNames } from '#exchange/exchange.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { DEFAULT_BOUNDS } from '#net/destination.ts'
import type { BackendItem } from '#plan/item.ts'
import { BACKEND } from '#policies/order.ts'
import { EndpointHealth } from '#state/endpoint-health.ts'
import type { BackendPlace, EndpointPlace } from './backend-place.ts'
import type { BackendMerge, BackendScope, BackendUse } from './backend-scope.ts'
import { backendTargets } from './backend-targets.ts'
import { buildAi } from './build-ai.ts'
import { buildChainFor, mergeSection } from './build-chain.ts'
import { buildMcp } from './build-mcp.ts'
import type { SharedState } from './compile-context.ts'
import { type Connection, compileConnection } from './connection.ts'
import { type Address, findAddresses } from './find-addresses.ts'
import type { Lookups } from './lookups.ts'
import { defaultResponseTimeout } from './response-timeout.ts'

const PROTOCOL = { ai: 'llm', mcp: 'mcp', a2a: 'a2a' } as const

/** Makes a backend ready for the requests of one rule. @returns undefined when the reference is broken or names nothing */
export function buildBackendPlace(use: BackendUse, scope: BackendScope): BackendPlace | undefined {
  const { backend } = use.reference
  const item = backend === undefined ? undefined : scope.lookups.item(backend)
  if (item?.kind !== 'backend') return undefined
  const names: PlaceNames = {
    ...use.names,
    backend: `${item.namespace}/${item.name}`,
    backendType: item.type,
    protocol: use.carries === 'bytes' ? 'tcp' : (PROTOCOL[item.type as keyof typeof PROTOCOL] ?? 'http'),
  }
  const found = item.broken === undefined ? findAddresses(item, scope.lookups) : refused('backend-invalid', item.broken)
  if ('kind' in found) {
    return { item, names, refusal: found, groups: [], ai: undefined, mcp: undefined, readers: [] }
  }
  const merge = (section: string | undefined) => mergeForBackend(use.targets, item, section, scope.lookups)
  const reached = { item, carries: use.carries, alone: found.flat().length === 1 }
  const groups = found.map((group) =>
    group.map((address) => buildEndpoint({ ...reached, address }, merge(address.section), scope)),
  )
  const ai = item.type === 'ai' ? buildAi(item, merge, scope) : undefined
  const mcp = item.type === 'mcp' ? buildMcp(item, merge, scope) : undefined
  return { item, names, refusal: undefined, groups, ai, mcp, readers: scope.context.readers }
}

function refused(code: 'backend-invalid', detail: string): Refusal {
  return reject(code, { detail })
}

/** Everything of section `backend` that applies to a backend, or to one section of it. */
function mergeForBackend(
  targets: readonly string[],
  item: BackendItem,
  section: string | undefined,
  lookups: Lookups,
): BackendMerge {
  const all = [...targets, ...backendTargets(item, section)]
  return { targets: all, fields: mergeSection({ section: 'backend', phase: undefined, targets: all }, lookups) }
}

interface Reached extends Pick<BackendUse, 'carries'> {
  readonly item: BackendItem
  readonly address: Address
  /** It is the only one of its backend. */
  readonly alone: boolean
}

function buildEndpoint(reached: Reached, merge: BackendMerge, scope: BackendScope): EndpointPlace {
  const { item, address, carries } = reached
  const { lookups, context, state } = scope
  const connection: Connection = compileConnection(
    { address, carries, bounds: item.bounds && { ...DEFAULT_BOUNDS, ...item.bounds } },
    merge.fields,
    context,
  )
  return {
    label: address.unixPath ?? `${address.host}:${address.port}`,
    section: address.section,
    destinations: connection.destinations,
    refusal: connection.refusal,
    hostname: address.hostname,
    rewritesHost: item.type !== 'service',
    chain: buildChainFor(
      { stage: 'backend', section: 'backend', phase: undefined, order: BACKEND, targets: merge.targets },
      lookups,
      context,
    ),
    health: healthOf(reached, connection, state),
    isUnhealthy: connection.isUnhealthy,
    requestTimeoutMs: connection.requestTimeoutMs,
    defaultTimeoutMs: defaultResponseTimeout(item.type),
  }
}

function healthOf({ item, address, alone }: Reached, { eviction }: Connection, state: SharedState): EndpointHealth {
  const key = `Endpoint/${item.key}/${address.section ?? `${address.host}:${address.port}`}`
  const slot = state.slotOf(key)
  if (slot === undefined) throw new Error(`no shared slot for ${key}`)
  return new EndpointHealth(state.memory, slot, eviction, alone)
}
