import {
  type ConfigProblem,
  enumOf,
  exactlyOne,
  fieldPath,
  groupName,
  kindName,
  list,
  mapOf,
  openObject,
  optional,
  problem,
  referencedName,
  required,
  sectionName,
  sni,
  text,
  withRule,
} from '#schema/index.ts'
import { type ObjectOf, platformKind } from './object.ts'
import { hostname, platformStatus, typedLocalReference } from './platform-fields.ts'
import { settingsOfType } from './settings-of-type.ts'

const subjectAltName = withRule(
  openObject({
    type: required(enumOf('Hostname', 'URI'), 'Type of the name.'),
    hostname: optional(hostname(), 'Name, for type Hostname.'),
    uri: optional(text({ min: 1, max: 253 }), 'Name, for type URI.'),
  }),
  {
    reads: ['type', 'hostname', 'uri'],
    description:
      'Type Hostname requires hostname and excludes uri; type URI requires uri with a scheme and excludes hostname.',
    check: checkName,
  },
)

/** The scheme and the authority of an absolute URI (RFC 3986, 3). */
const ABSOLUTE_URI = /^[A-Za-z][-+.A-Za-z0-9]*:\/\/[^/?#]/

const checkField = settingsOfType({ Hostname: 'hostname', URI: 'uri' }, 'a name')

function checkName(
  name: { readonly type: 'Hostname' | 'URI'; readonly hostname?: string; readonly uri?: string },
  path: string,
): readonly ConfigProblem[] {
  const found = checkField(name, path)
  if (name.type !== 'URI' || name.uri === undefined || ABSOLUTE_URI.test(name.uri)) return found
  return [
    ...found,
    problem(fieldPath(path, 'uri'), 'invalid-uri', 'must be an absolute URI, such as "spiffe://example.org/shop"'),
  ]
}

const validation = exactlyOne(
  ['caCertificateRefs', 'wellKnownCACertificates'],
  openObject({
    caCertificateRefs: optional(
      list(typedLocalReference, { min: 1, max: 8 }),
      'ConfigMaps with CA certificates in "ca.crt".',
    ),
    wellKnownCACertificates: optional(enumOf('System'), 'Trust the CA certificates of the system.'),
    hostname: required(sni(), 'Server name (SNI) to send, and the name that the certificate must contain.'),
    subjectAltNames: optional(
      list(subjectAltName, { max: 5 }),
      'Names as an alternative to hostname. The certificate must contain at least one of them.',
    ),
  }),
)

/** An entry of `targetRefs`: an object in the same namespace. */
export const backendTlsTarget = openObject({
  group: required(groupName(), 'API group of the target.'),
  kind: required(kindName(), 'Kind of the target.'),
  name: required(referencedName(), 'Name of the target.'),
  sectionName: optional(sectionName(), 'Name or number of one port of the target.'),
})

export const backendTlsPolicy = platformKind('BackendTLSPolicy', {
  spec: required(
    openObject({
      targetRefs: required(
        list(backendTlsTarget, { min: 1, max: 16 }),
        'Services or ProxyBackends that the policy attaches to.',
      ),
      validation: required(validation, 'Verification of the server certificate.'),
      options: optional(mapOf(text()), 'Implementation-specific options.'),
    }),
    'Desired state.',
  ),
  status: platformStatus,
})

export type BackendTLSPolicyObject = ObjectOf<typeof backendTlsPolicy>
