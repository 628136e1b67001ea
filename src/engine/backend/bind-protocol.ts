import type { LlmInterface } from '#exchange/llm-facts.ts'
import { backendPath } from '#plan/backend-path.ts'
import type { BackendItem } from '#plan/item.ts'
import type { CompileContext } from '#policies/policy.ts'
import type { Address } from '#protocols/address.ts'
import type {
  BackendProtocol,
  BackendSettings,
  ProtocolBackend,
  ProtocolRun,
  SectionNames,
} from '#protocols/backend-protocol.ts'
import { type BackendSpec, type BackendType, protocolOf } from '#protocols/backend-protocols.ts'
import type { Lookups } from '../lookups/lookups.ts'
import { allSourcesOf, type MergedField, sourcesOf } from '../merge/merge.ts'

/** The protocol implementation, bound to one backend of the plan. */
export interface BoundProtocol extends Pick<BackendProtocol<never>, 'name' | 'responseTimeoutMs' | 'rewritesHost'> {
  /** The backend as the origin of findings. */
  readonly backend: ProtocolBackend<unknown>
  addresses(lookups: Lookups): readonly (readonly Address[])[]
  sectionNames(section: string): SectionNames
  misread(settings: BackendSettings, path: string): LlmInterface | undefined
  compile(settings: BackendSettings, context: CompileContext): ProtocolRun
  replaced(worker: object): void
}

const PLAIN: ProtocolRun = {}

export function bindProtocol<Type extends BackendType>(item: BackendItem<Type>): BoundProtocol {
  const protocol = protocolOf<Type>(item.type)
  const { name, responseTimeoutMs, rewritesHost } = protocol
  const backend: ProtocolBackend<BackendSpec<Type>> = {
    namespace: item.namespace,
    name: item.name,
    spec: item.spec,
    origin: item.origin,
    path: backendPath(item),
    target: item.key,
  }
  return {
    name,
    responseTimeoutMs,
    rewritesHost,
    backend,
    addresses: (lookups) => protocol.addresses(backend, (service) => endpointsOf(service, lookups)),
    sectionNames: (section) => protocol.sectionNames?.(backend.spec, section) ?? { names: [section] },
    misread: (settings, path) => protocol.misread?.(backend.spec, settings, path),
    compile: (settings, context) => protocol.compile?.(backend, settings, context) ?? PLAIN,
    replaced: (worker) => protocol.replaced?.(backend, worker),
  }
}

function endpointsOf(service: string, lookups: Lookups) {
  const item = lookups.item(`Endpoints/${service}`)
  return item?.kind === 'endpoints' ? item.addresses : undefined
}

/** The merged policies of a backend, in the form that protocols read. */
export function backendSettings(
  fieldsOf: (section: string | undefined) => ReadonlyMap<string, MergedField>,
): BackendSettings {
  return {
    of: (field, section) => sourcesOf(field, fieldsOf(section)),
    everyOf: (field, section) => allSourcesOf(field, fieldsOf(section)),
  }
}
