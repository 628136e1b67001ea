import {
  atMostOne,
  enumOf,
  groupName,
  kindName,
  list,
  mapOf,
  openObject,
  optional,
  referencedName,
  required,
  sectionName,
  sni,
  text,
} from '#schema/index.ts'
import { type ObjectOf, platformKind } from './object.ts'
import { platformStatus, typedLocalReference } from './platform-fields.ts'

const validation = atMostOne(
  ['caCertificateRefs', 'wellKnownCACertificates'],
  openObject({
    caCertificateRefs: optional(list(typedLocalReference, { max: 8 }), 'ConfigMaps with CA certificates.'),
    wellKnownCACertificates: optional(enumOf('System'), 'Trust the CA certificates of the system.'),
    hostname: required(sni(), 'Server name (SNI) to send, and the name that the certificate must contain.'),
    subjectAltNames: optional(
      list(
        openObject({
          type: required(enumOf('Hostname', 'URI'), 'Type of the name.'),
          hostname: optional(text({ min: 1, max: 253 }), 'Name, for type Hostname.'),
          uri: optional(text({ min: 1, max: 253 }), 'Name, for type URI.'),
        }),
        { max: 5 },
      ),
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
