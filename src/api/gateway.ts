import {
  defaulted,
  enumOf,
  list,
  listMap,
  mapOf,
  objectName,
  openObject,
  optional,
  type Parsed,
  port,
  required,
  text,
} from '#schema/index.ts'
import { clientValidation } from './client-validation.ts'
import { listener } from './listener.ts'
import { type ObjectOf, platformKind } from './object.ts'
import {
  openLabelSelector,
  platformStatus,
  secretObjectReference,
  typedLocalReference,
  unread,
} from './platform-fields.ts'

const clientTls = openObject({ validation: optional(clientValidation, 'Client certificates.') })

const gatewayTls = openObject({
  backend: optional(
    openObject({
      clientCertificateRef: optional(secretObjectReference, 'Client certificate towards backends.'),
      ...unread('resolvedRefs'),
    }),
    'TLS towards backends.',
  ),
  frontend: optional(
    openObject({
      default: optional(clientTls, 'For all ports that are not named below.'),
      perPort: optional(
        list(
          openObject({
            port: required(port(), 'Port.'),
            tls: required(clientTls, 'TLS of this port.'),
          }),
          { max: 64 },
        ),
        'By port.',
      ),
    }),
    'TLS of clients.',
  ),
})

const gatewaySpec = openObject({
  gatewayClassName: required(objectName(), 'Name of the GatewayClass.'),
  listeners: required(listMap('name', listener, { min: 0, max: 64 }), 'Where traffic comes in.'),
  addresses: optional(
    list(
      openObject({
        type: defaulted(text({ min: 1, max: 253 }), 'IPAddress', 'Type of the address.'),
        value: optional(text({ max: 253 }), 'The address; any when unset.'),
      }),
      { max: 16 },
    ),
    'Addresses asked for.',
  ),
  infrastructure: optional(
    openObject({
      labels: optional(mapOf(text()), 'Labels of generated objects.'),
      annotations: optional(mapOf(text()), 'Annotations of generated objects.'),
      parametersRef: optional(typedLocalReference, 'A ProxyParameters object.'),
    }),
    'The objects generated for the Gateway.',
  ),
  allowedListeners: optional(
    openObject({
      namespaces: optional(
        openObject({
          from: defaulted(enumOf('All', 'Selector', 'Same', 'None'), 'None', 'Which namespaces.'),
          selector: optional(openLabelSelector, 'Labels of the namespaces, for Selector.'),
        }),
        'Namespaces whose ListenerSets may attach; none when unset.',
      ),
    }),
    'ListenerSets that may attach.',
  ),
  tls: optional(gatewayTls, 'TLS of the whole Gateway.'),
  ...unread('defaultScope', 'backendTLS'),
})

export const gateway = platformKind('Gateway', {
  spec: required(gatewaySpec, 'What is wanted.'),
  status: platformStatus,
})

export type GatewaySpec = Parsed<typeof gatewaySpec>
export type GatewayObject = ObjectOf<typeof gateway>
export type { ListenerSpec } from './listener.ts'
