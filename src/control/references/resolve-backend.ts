import { GATEWAY_GROUP, OWN_GROUP } from '#api/groups.ts'
import type { ApiObject } from '#api/object.ts'
import type { FindingCode } from '#base/findings.ts'
import { type BackendRef, backendKey } from '#plan/backend-key.ts'
import type { ConditionFault } from '../context/condition.ts'
import type { Inventory } from '../context/inventory.ts'
import type { Report } from '../context/reporting.ts'
import type { TranslationContext } from '../context/translation-context.ts'
import { notFound } from './not-found.ts'
import { findServicePort, tcpPorts } from './service-port.ts'
import { wrongReference } from './wrong-reference.ts'

/** The result of resolving a reference to a backend. */
export interface BackendResolution {
  /** Key of the `BackendItem`, even if it must not be used; undefined if the kind is not a backend. */
  readonly key: string | undefined
  /** Why it must not be used. `field` is relative to the reference and starts with a dot, or is empty. */
  readonly fault?: ConditionFault & { readonly code: FindingCode; readonly field: string }
}

const BACKEND_KINDS = { Service: '', ProxyBackend: OWN_GROUP }
const ANY_BACKEND: readonly BackendKind[] = ['Service', 'ProxyBackend']

type BackendKind = keyof typeof BACKEND_KINDS

/**
 * Resolves a `backendRef` of an object. References to other namespaces require a ReferenceGrant (decision A-35).
 * @param accepted the kinds that the reference can name
 */
export function resolveBackend(
  { inventory, grants }: TranslationContext,
  from: Pick<ApiObject, 'kind' | 'metadata'>,
  ref: BackendRef,
  accepted: readonly BackendKind[] = ANY_BACKEND,
): BackendResolution {
  const { group = '', kind = 'Service', name, namespace = from.metadata.namespace, port } = ref
  const isService = group === '' && kind === 'Service'
  if (!isService && (group !== OWN_GROUP || kind !== 'ProxyBackend')) {
    const { message, field } = wrongReference({ group, kind }, BACKEND_KINDS)
    return fault(undefined, 'backend-kind-unknown', 'InvalidKind', message, field)
  }
  if (isService && port === undefined) {
    const message = `the reference to Service ${namespace}/${name} requires a port`
    return fault(undefined, 'backend-port-missing', 'UnsupportedValue', message)
  }

  const key = backendKey(ref, from.metadata.namespace)
  const source = { group: groupOf(from.kind), kind: from.kind, namespace: from.metadata.namespace }
  if (!grants(source, { group, kind, namespace, name })) {
    const message = `no ReferenceGrant permits ${kind} ${namespace}/${name}`
    return fault(key, 'reference-not-permitted', 'RefNotPermitted', message, '.namespace')
  }
  if (!isService) {
    if (inventory.find('ProxyBackend', namespace, name) !== undefined) return { key }
    return missing(key, inventory, { kind: 'ProxyBackend', namespace, name, accepted })
  }
  const service = inventory.find('Service', namespace, name)
  if (service === undefined) return missing(key, inventory, { kind: 'Service', namespace, name, accepted })
  if (findServicePort(service, port!) !== undefined) return { key }
  const ports = tcpPorts(service).map((it) => it.port)
  const other = service.spec.ports?.find((it) => it.port === port)?.protocol
  const lack = other === undefined ? `has no port ${port}` : `has port ${port} only for ${other}`
  const message = `Service ${namespace}/${name} ${lack}; it has ${ports.join(', ') || 'no TCP ports'}`
  return fault(key, 'backend-port-unknown', 'BackendNotFound', message, '.port')
}

/** Reports a port that has no effect: a ProxyBackend has its own. @param path field path of the reference */
export function reportUnusedPort(report: Report, { kind, name, port }: BackendRef, path: string): void {
  if (kind !== 'ProxyBackend' || port === undefined) return
  const message = `has no effect: ProxyBackend ${name} has a port of its own`
  report({ path: `${path}.port`, code: 'no-effect', message, severity: 'warning' })
}

function missing(
  key: string | undefined,
  inventory: Inventory,
  object: Parameters<typeof notFound>[2],
): BackendResolution {
  return { key, fault: { ...notFound(inventory, 'backend-not-found', object), reason: 'BackendNotFound', field: '' } }
}

function fault(
  key: string | undefined,
  code: FindingCode,
  reason: string,
  message: string,
  field = '',
): BackendResolution {
  return { key, fault: { code, reason, message, field } }
}

function groupOf(kind: string): string {
  return kind === 'ProxyPolicy' || kind === 'ProxyBackend' ? OWN_GROUP : GATEWAY_GROUP
}
