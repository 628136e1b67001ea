import type { TOptional, TUnknown } from 'typebox'
import {
  defaulted,
  enumOf,
  formattedText,
  groupName,
  httpHeaderName,
  integer,
  json,
  kindName,
  list,
  listMap,
  mapOf,
  namespaceName,
  openObject,
  optional,
  port,
  REFERENCE_MEANINGS,
  referencedName,
  required,
  type ScalarRefusal,
  SERVICE_PORT_RULE,
  text,
  withMeanings,
  withRule,
} from '#schema/index.ts'
import { MATCH_TYPES } from './meanings.ts'
import { parentReference } from './parent-reference.ts'

/** Platform fields that this gateway does not read. They are declared so that they are not reported as unknown. */
export function unread<const Names extends readonly string[]>(
  ...names: Names
): Record<Names[number], TOptional<TUnknown>> {
  const fields = names.map((name) => [name, optional(json(), 'The gateway ignores this field.')])
  return Object.fromEntries(fields) as Record<Names[number], TOptional<TUnknown>>
}

/** `status` of a platform kind: read as it is. */
export const platformStatus = optional(json(), 'Observed state.')

const HOSTNAME = /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

function checkHostname(value: string): ScalarRefusal | undefined {
  if (HOSTNAME.test(value)) return undefined
  const message = 'must be a lower-case DNS name; a leading "*." is allowed'
  return { code: 'invalid-host', message }
}

/** A hostname of a listener or a route: a DNS name, or a wildcard such as `*.example.com`. */
export const hostname = () => formattedText({ min: 1, max: 253, pattern: HOSTNAME }, checkHostname)

/** The platform's LabelSelector as platform kinds use it. */
export const openLabelSelector = openObject({
  matchLabels: optional(mapOf(text()), 'Labels and values that the object must have.'),
  matchExpressions: optional(
    list(
      openObject({
        key: required(text(), 'Label key.'),
        operator: required(enumOf('In', 'NotIn', 'Exists', 'DoesNotExist'), 'Operator of the requirement.'),
        values: optional(list(text()), 'Values, for operators In and NotIn.'),
      }),
    ),
    'Label requirements. All of them must hold.',
  ),
})

/** A reference to a Secret (certificates), which may be in another namespace. */
export const secretObjectReference = openObject({
  group: defaulted(groupName(), '', 'API group of the object.'),
  kind: defaulted(kindName(), 'Secret', 'Kind of the object.'),
  name: required(referencedName(), 'Name of the object.'),
  namespace: optional(namespaceName(), 'Namespace of the object. When unset, the namespace of the referring object.'),
})

/** A reference to an object of any kind, which may be in another namespace. */
export const objectReference = openObject({
  group: required(groupName(), 'API group of the object.'),
  kind: required(kindName(), 'Kind of the object.'),
  name: required(referencedName(), 'Name of the object.'),
  namespace: optional(namespaceName(), 'Namespace of the object. When unset, the namespace of the referring object.'),
})

/** A reference to an object in the same namespace. */
export const typedLocalReference = openObject({
  group: required(groupName(), 'API group of the object.'),
  kind: required(kindName(), 'Kind of the object.'),
  name: required(referencedName(), 'Name of the object.'),
})

export const backendReferenceFields = {
  group: defaulted(groupName(), '', 'API group of the backend. Empty for a Service.'),
  kind: defaulted(kindName(), 'Service', 'Kind of the backend: Service or ProxyBackend.'),
  name: required(referencedName(), 'Name of the backend.'),
  namespace: optional(namespaceName(), 'Namespace of the backend. When unset, the namespace of the referring object.'),
  port: optional(port(), 'Port of the Service. Required for a Service.'),
}

/** The backend of a filter or a callout. */
export const openBackendReference = withRule(
  withMeanings(REFERENCE_MEANINGS, openObject(backendReferenceFields)),
  SERVICE_PORT_RULE,
)

export const weight = defaulted(
  integer({ min: 0, max: 1_000_000 }),
  1,
  'Weight of the backend: its share of the traffic relative to the other weights.',
)

/** How a route matches a header, a query parameter or a gRPC method. */
export const matchType = defaulted(
  withMeanings(MATCH_TYPES, enumOf('Exact', 'RegularExpression')),
  'Exact',
  'How the value is matched.',
)

/** Headers in the match of a route. */
export const headerMatches = listMap(
  'name',
  openObject({
    type: matchType,
    name: required(httpHeaderName(), 'Name of the header.'),
    value: required(text({ min: 1, max: 4096 }), 'Value or regular expression to match.'),
  }),
  { max: 16 },
)

/** Common fields of all routes. */
export const routeFields = {
  parentRefs: optional(list(parentReference, { max: 32 }), 'Gateways or ListenerSets that the route attaches to.'),
  useDefaultGateways: optional(text(), 'Whether the route also attaches to default Gateways.'),
}

/** A backend of a TCP or TLS route. */
export const weightedBackendReference = withRule(
  withMeanings(REFERENCE_MEANINGS, openObject({ ...backendReferenceFields, weight })),
  SERVICE_PORT_RULE,
)
