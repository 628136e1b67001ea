import { BACKEND } from '#api/policy-order.ts'
import type { PlanNames } from '#exchange/exchange.ts'
import { reject } from '#exchange/outcome.ts'
import { DEFAULT_BOUNDS } from '#net/destination.ts'
import type { BackendItem } from '#plan/item.ts'
import type { Address } from '#protocols/address.ts'
import { EndpointHealth } from '#state/endpoint-health.ts'
import { buildChainFor, mergeSection } from '../merge/build-chain.ts'
import type { SharedState } from '../merge/compile-context.ts'
import type { Lookups } from '../plan/lookups.ts'
import type { BackendContext, BackendMerge, BackendUse } from './backend-context.ts'
import { backendTargets } from './backend-targets.ts'
import { type BoundProtocol, backendSettings, bindProtocol } from './bind-protocol.ts'
import { type Connection, compileConnection } from './connection.ts'
import type { LiveBackend, LiveEndpoint } from './live-backend.ts'

/** Makes a backend ready for the requests of one rule. @returns undefined when the reference is broken or names nothing */
export function buildLiveBackend(use: BackendUse, scope: BackendContext): LiveBackend | undefined {
  const { backend } = use.reference
  const item = backend === undefined ? undefined : scope.lookups.item(backend)
  if (item?.kind !== 'backend') return undefined
  const { lookups, context } = scope
  const protocol = bindProtocol(item)
  const names: PlanNames = {
    ...use.names,
    backend: `${item.namespace}/${item.name}`,
    backendType: item.type,
    protocol: use.carries === 'bytes' ? 'tcp' : protocol.name,
  }
  const found =
    item.broken === undefined ? protocol.addresses(lookups) : reject('backend-invalid', { detail: item.broken })
  if ('kind' in found) return { item, names, refusal: found, groups: [], protocol: {}, readers: [] }
  const merge = (section: string | undefined) => mergeForBackend(use.targets, item, section, lookups)
  const reached = { item, protocol, carries: use.carries, alone: found.flat().length === 1 }
  const groups = found.map((group) =>
    group.map((address) => buildEndpoint({ ...reached, address }, merge(address.section), scope)),
  )
  const run = protocol.compile(
    backendSettings((section) => merge(section).fields),
    context,
  )
  return { item, names, refusal: undefined, groups, protocol: run, readers: context.readers }
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
  readonly protocol: BoundProtocol
  readonly address: Address
  /** It is the only one of its backend. */
  readonly alone: boolean
}

function buildEndpoint(reached: Reached, merge: BackendMerge, scope: BackendContext): LiveEndpoint {
  const { item, protocol, address, carries } = reached
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
    rewritesHost: protocol.rewritesHost,
    chain: buildChainFor(
      { stage: 'backend', section: 'backend', phase: undefined, order: BACKEND, targets: merge.targets },
      lookups,
      context,
    ),
    health: healthOf(reached, connection, state),
    isUnhealthy: connection.isUnhealthy,
    requestTimeoutMs: connection.requestTimeoutMs,
    defaultTimeoutMs: protocol.responseTimeoutMs,
  }
}

function healthOf({ item, address, alone }: Reached, { eviction }: Connection, state: SharedState): EndpointHealth {
  const key = `Endpoint/${item.key}/${address.section ?? `${address.host}:${address.port}`}`
  const slot = state.slotOf(key)
  if (slot === undefined) throw new Error(`no shared slot for ${key}`)
  return new EndpointHealth(state.memory, slot, eviction, alone)
}
