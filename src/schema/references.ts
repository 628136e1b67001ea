import type { TSchema } from 'typebox'
import type { ConfigProblem } from '#base/config-problem.ts'
import type { Meanings } from '#base/products.ts'
import { annotate } from './build.ts'
import { defaulted, optional, required, withMeanings } from './modifiers.ts'
import type { OwnBackend, Reference } from './node.ts'
import { fieldPath, problem } from './problem.ts'
import { enumOf, groupName, kindName, namespaceName, objectName, port, text } from './scalars.ts'
import { list, mapOf, object, withRule } from './structures.ts'

/** A reference to an object of a fixed kind in the same namespace. */
export function localObjectReference() {
  return object({ name: required(objectName(), 'Name of the object, in the same namespace.') })
}

/** @param entries that the Secret must have; of an inner list, at least one */
export function secretReference(...entries: Reference['entries']) {
  return referring(localObjectReference(), { to: 'secret', entries })
}

/** @param entries as for a Secret */
export function configMapReference(...entries: Reference['entries']) {
  return referring(localObjectReference(), { to: 'configMap', entries })
}

/** All Secrets of the namespace with certain labels. */
export function secretSelector() {
  const matchLabels = required(mapOf(text()), 'Labels and values that a Secret must have.')
  return referring(object({ matchLabels }), { to: 'secrets', entries: [] })
}

/** An object that is a destination by itself, with its backend policies in the member `policies`. */
export function destination<S extends TSchema>(schema: S, ownBackend: OwnBackend): S {
  return annotate(schema, { ownBackend })
}

function referring<S extends TSchema>(schema: S, refersTo: Reference): S {
  return annotate(schema, { refersTo })
}

const backendObjectReferenceFields = {
  group: defaulted(groupName(), '', 'API group of the object. Empty for the core group.'),
  kind: defaulted(kindName(), 'Service', 'Kind of the object: Service or ProxyBackend.'),
  name: required(objectName(), 'Name of the object.'),
  namespace: optional(
    namespaceName(),
    'Namespace of the object. When unset, the namespace of the referring object. A reference to another namespace requires a ReferenceGrant there.',
  ),
  port: optional(port(), 'Port of the Service. Required for a Service.'),
}

interface ServiceReference {
  readonly group: string
  readonly kind: string
  readonly port?: unknown
}

/** A Service is always named together with its port. */
function checkServicePort(ref: ServiceReference, path: string): readonly ConfigProblem[] {
  if (ref.group !== '' || ref.kind !== 'Service' || ref.port !== undefined) return []
  const message =
    'port is required in a reference to a Service; for a ProxyBackend, set group gatewright.dev and kind ProxyBackend'
  return [problem(fieldPath(path, 'port'), 'required', message)]
}

/** A rule for schemas of references to a Service or to a ProxyBackend. */
export const SERVICE_PORT_RULE = {
  reads: ['group', 'kind'] as const,
  description: 'A reference to a Service requires a port.',
  check: checkServicePort,
  onServer: "self.group != '' || self.kind != 'Service' || has(self.port)",
}

/** What to write instead of the names of references in other configuration APIs. */
export const REFERENCE_MEANINGS: Meanings = {
  servicename: 'use "name"',
  service: 'use "name"',
  serviceport: 'use "port"',
  targetport: 'use "port", which is the port of the Service',
  host: 'refer to a Service or ProxyBackend by "name"; a ProxyBackend may have "static.host"',
}

/** A reference to a Service (with its port) or to a ProxyBackend. */
export function backendObjectReference(to: 'backend' | 'keySet' = 'backend') {
  const fields = withMeanings(REFERENCE_MEANINGS, object(backendObjectReferenceFields))
  return referring(withRule(fields, SERVICE_PORT_RULE), { to, entries: [] })
}

/** Selects objects by their labels; an empty selector selects all. */
export function labelSelector() {
  return object({
    matchLabels: optional(mapOf(text()), 'Labels and values that the object must have.'),
    matchExpressions: optional(
      list(
        object({
          key: required(text(), 'Label key.'),
          operator: required(enumOf('In', 'NotIn', 'Exists', 'DoesNotExist'), 'Operator of the requirement.'),
          values: optional(list(text()), 'Values, for operators In and NotIn.'),
        }),
      ),
      'Label requirements. All of them must hold.',
    ),
  })
}
