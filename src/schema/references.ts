import type { ConfigProblem } from '#base/config-problem.ts'
import { defaulted, optional, required } from './modifiers.ts'
import { fieldPath, problem } from './problem.ts'
import { enumOf, groupName, kindName, namespaceName, objectName, port, text } from './scalars.ts'
import { list, mapOf, object, withRule } from './structures.ts'

/** A reference to an object of a fixed kind in the same namespace (a Secret, a ConfigMap, a Service). */
export function localObjectReference() {
  return object({ name: required(objectName(), 'Name of the object, in the same namespace.') })
}

const backendObjectReferenceFields = {
  group: defaulted(groupName(), '', 'API group of the object; empty for the core group.'),
  kind: defaulted(kindName(), 'Service', 'Kind of the object: Service or ProxyBackend.'),
  name: required(objectName(), 'Name of the object.'),
  namespace: optional(
    namespaceName(),
    'Namespace of the object; the own namespace when unset. Another namespace needs a ReferenceGrant there.',
  ),
  port: optional(port(), 'Port of the Service; required for a Service.'),
}

interface ServiceReference {
  readonly group: string
  readonly kind: string
  readonly port?: unknown
}

/** A Service is always named together with its port. */
function checkServicePort(ref: ServiceReference, path: string): readonly ConfigProblem[] {
  if (ref.group !== '' || ref.kind !== 'Service' || ref.port !== undefined) return []
  return [problem(fieldPath(path, 'port'), 'required', 'must have a port for a Service reference')]
}

/** A rule for schemas of references to a Service or to a ProxyBackend. */
export const SERVICE_PORT_RULE = {
  reads: ['group', 'kind'] as const,
  description: 'A Service reference has a port.',
  check: checkServicePort,
}

/** A reference to a Service (with its port) or to a ProxyBackend. */
export function backendObjectReference() {
  return withRule(object(backendObjectReferenceFields), SERVICE_PORT_RULE)
}

/** Selects objects by their labels; an empty selector selects all. */
export function labelSelector() {
  return object({
    matchLabels: optional(mapOf(text()), 'Labels that the object must have, each with this value.'),
    matchExpressions: optional(
      list(
        object({
          key: required(text(), 'Label key.'),
          operator: required(enumOf('In', 'NotIn', 'Exists', 'DoesNotExist'), 'How the values are compared.'),
          values: optional(list(text()), 'Values for In and NotIn.'),
        }),
      ),
      'Conditions on labels, all of which must hold.',
    ),
  })
}
