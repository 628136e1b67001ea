import { POLICIES } from '#api/policy-fields.ts'
import { BACKEND } from '#api/policy-order.ts'
import { backendName } from '#exchange/backend-name.ts'
import type { PlanNames } from '#exchange/exchange.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { ForwardRules } from '#net/connect/forward-rules.ts'
import { DEFAULT_BOUNDS, type ProxyServer } from '#net/destination.ts'
import { type EndpointId, endpointKey } from '#plan/endpoint-key.ts'
import type { BackendItem } from '#plan/item.ts'
import { health } from '#policies/backend/health/index.ts'
import type { CompileContext } from '#policies/policy.ts'
import { refuseForPolicy } from '#policies/shared/refused-policy.ts'
import { type Address, labelOf } from '#protocols/address.ts'
import type { ProtocolRun } from '#protocols/backend-protocol.ts'
import { EndpointHealth } from '#state/endpoint-health.ts'
import type { Lookups } from '../lookups/lookups.ts'
import { buildChainFor, compileSetting } from '../merge/build-chain.ts'
import type { SharedState } from '../merge/compile-context.ts'
import { type MergedField, sourcesOf } from '../merge/merge.ts'
import type { BackendContext, BackendMerge, BackendUse } from './backend-context.ts'
import { type BoundProtocol, backendSettings, bindProtocol } from './bind-protocol.ts'
import { compileTunnel } from './compile-tunnel.ts'
import { type Connection, compileConnection } from './connection.ts'
import { type AddressUse, compileDestinations, type Destinations } from './destinations.ts'
import { reportExposedCredential } from './exposed-credential.ts'
import { impliedFields } from './implied-fields.ts'
import type { LiveBackend, LiveEndpoint } from './live-backend.ts'
import { mergeForBackend } from './merge-for-backend.ts'
import { type Place, RequestedPlaces } from './place.ts'
import { reportOwnServer } from './report-own-server.ts'
import { reportPlainPort } from './report-plain-port.ts'

/** Builds a backend for the requests of one rule. @returns undefined if the reference is broken, or the backend does not exist */
export function buildLiveBackend(use: BackendUse, inputs: BackendContext): LiveBackend | undefined {
  const { backend } = use.reference
  const item = backend === undefined ? undefined : inputs.lookups.item(backend)
  if (item?.kind !== 'backend') return undefined
  const { lookups, context } = inputs
  const protocol = bindProtocol(item)
  const names: PlanNames = {
    ...use.names,
    backend: backendName(item.key),
    backendType: item.type,
    protocol: use.carries === 'bytes' ? 'tcp' : protocol.name,
  }
  const { filters } = use.reference
  const targets = filters === undefined ? use.targets : [...use.targets, filters]
  const merge = (section: string | undefined) => mergeForBackend(targets, item, section, lookups)
  const found =
    item.broken === undefined
      ? (refusalAt(merge(undefined).targets, lookups) ?? protocol.addresses(lookups))
      : reject('backend-invalid', { detail: item.broken })
  const compileProtocol = () =>
    protocol.compile(
      backendSettings((section) => merge(section).fields),
      context,
    )
  if ('kind' in found) {
    // The refusal has the format of the protocol, although nothing is sent.
    const run = compileProtocol()
    const format: ProtocolRun =
      run.refuse === undefined ? {} : { refuse: (exchange, refusal) => run.refuse!(exchange, refusal) }
    return { ...NOTHING, item, names, targets, refusal: found, protocol: format }
  }
  const endpointInputs = { item, protocol, carries: use.carries, all: found.flat() }
  const groups = found.map((group) =>
    group.map((address) => buildEndpoint({ ...endpointInputs, address }, merge(address.section), inputs)),
  )
  reportOwnServer(item, found.flat(), context, inputs.state)
  if (use.carries === 'requests') reportPlainPort(item, groups.flat(), context)
  const run = compileProtocol()
  if (use.carries === 'bytes' && run.isGuarded === true) {
    const refusal = reject('backend-invalid', { detail: 'its prompt guards cannot check relayed connections' })
    return { ...NOTHING, item, names, targets, refusal, protocol: {} }
  }
  const sections = sectionsOf(item, groups.flat())
  const chooseMirrors = compileSetting(POLICIES.backend.requestMirror, merge(undefined).fields, context)
  const { readers } = context
  return { item, names, targets, refusal: undefined, groups, sections, chooseMirrors, protocol: run, readers }
}

const NO_SECTIONS: LiveBackend['sections'] = new Map()
const NOTHING = { groups: [], sections: NO_SECTIONS, chooseMirrors: undefined, readers: [] }

function sectionsOf({ key }: BackendItem, endpoints: readonly LiveEndpoint[]): LiveBackend['sections'] {
  const named = endpoints.filter(({ section }) => section !== undefined)
  return named.length === 0 ? NO_SECTIONS : Map.groupBy(named, ({ section }) => `${key}/${section}`)
}

/** The refusal of everything at the targets, if an invalid policy protects one of them. Routes for connections have no other check. */
function refusalAt(targets: readonly string[], lookups: Lookups): Refusal | undefined {
  for (const target of targets) {
    const refused = lookups.policiesAt(target).find(({ field }) => field === 'refusedPolicy')
    if (refused !== undefined) return refuseForPolicy(refused)
  }
  return undefined
}

interface EndpointInputs extends Pick<BackendUse, 'carries'> {
  readonly item: BackendItem
  readonly protocol: BoundProtocol
  readonly address: Address
  /** All addresses of the backend. */
  readonly all: readonly Address[]
}

function buildEndpoint(endpointInputs: EndpointInputs, merge: BackendMerge, inputs: BackendContext): LiveEndpoint {
  const { item, protocol, address, carries } = endpointInputs
  const { lookups, context, state } = inputs
  const connection: Connection = compileConnection(
    { carries, tls: address.tls, tunnel: tunnelOf(address, merge.fields, inputs) },
    merge.fields,
    context,
  )
  const bounds = item.bounds && { ...DEFAULT_BOUNDS, ...item.bounds }
  const trustDomain = address.meshPod && lookups.mesh()?.trustDomain
  const place = placeOf({ address, carries, bounds, trustDomain }, connection, state)
  reportExposedCredential({ item, address, place }, merge.fields, context)
  if (place instanceof RequestedPlaces) reportEviction(merge.fields, context)
  return {
    label: labelOf(address),
    section: address.section,
    place,
    refusal: refusalAt(merge.targets, lookups) ?? connection.refusal,
    hostname: address.hostname,
    rewritesHost: protocol.rewritesHost,
    target: address.target,
    chain: buildChainFor(
      {
        stage: 'backend',
        section: 'backend',
        phase: undefined,
        order: BACKEND,
        targets: merge.targets,
        implied: impliedFields(item, address),
      },
      lookups,
      context.towards(address),
    ),
    health: healthOf(endpointInputs, connection, state),
    isUnhealthy: connection.isUnhealthy,
    requestTimeoutMs: connection.requestTimeoutMs,
    defaultTimeoutMs: protocol.responseTimeoutMs,
  }
}

function tunnelOf(
  address: Address,
  fields: ReadonlyMap<string, MergedField>,
  inputs: BackendContext,
): ProxyServer | Refusal | undefined {
  const { context } = inputs
  const setting = compileSetting(POLICIES.backend.tunnel, fields, context)
  const build = (use: BackendUse) => buildLiveBackend(use, { ...inputs, context: context.silent })
  return setting && compileTunnel(setting, address, inputs, build)
}

function placeOf(use: AddressUse, { settings }: Connection, { forwardRules }: SharedState): Place | RequestedPlaces {
  const { address } = use
  const compile = (address: Address) => compileDestinations({ ...use, address }, settings)
  if (address.chosenByClient !== true) return fixedPlace(address, compile(address))
  return new RequestedPlaces({
    compile,
    secured: settings.tls !== undefined,
    tunnelled: settings.tunnel !== undefined,
    bounds: use.bounds,
    rules: forwardRules ?? DEFAULT_RULES,
  })
}

function fixedPlace(address: Address, destinations: Destinations): Place {
  const { meshPod } = address
  const { tunnel } = destinations.usual
  const place = { label: labelOf(address), destinations }
  if (meshPod === undefined || tunnel?.mode !== 'mesh') return place
  return { ...place, meshPod: { name: `${meshPod.namespace}/${meshPod.name}`, identity: tunnel.identity } }
}

const DEFAULT_RULES = new ForwardRules()

/** A destination that clients choose has no endpoints to choose between, so there is nothing to evict. */
function reportEviction(fields: ReadonlyMap<string, MergedField>, context: CompileContext): void {
  const [source] = sourcesOf(health, fields)
  if (source?.spec.eviction === undefined) return
  const message = 'has no effect: each request to a dynamicForwardProxy backend names its own destination'
  context.report(source, '.eviction', { code: 'no-effect', message, severity: 'warning' })
}

function endpointId({ key }: BackendItem, address: Address): EndpointId {
  const { section } = address
  if (section === undefined) return { backend: key, endpoint: labelOf(address) }
  return { backend: key, endpoint: address.isReplica === true ? `${section}/${labelOf(address)}` : section }
}

/** Whether a request has no other address to choose from. The addresses of one section are replicas, or one provider of several. */
function isAlone({ section, isReplica }: Address, all: readonly Address[]): boolean {
  return (isReplica === true ? all.filter((other) => other.section === section) : all).length === 1
}

function healthOf(
  { item, address, all }: EndpointInputs,
  { eviction }: Connection,
  state: SharedState,
): EndpointHealth {
  const id = endpointId(item, address)
  const key = endpointKey(id)
  const slot = state.slotOf(key)
  if (slot === undefined) throw new Error(`no shared slot for ${key}`)
  const used = address.chosenByClient === true ? undefined : eviction
  return new EndpointHealth(state.memory, slot, used, isAlone(address, all), (eviction) =>
    state.evicted?.(id, eviction),
  )
}
