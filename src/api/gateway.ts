import {
  defaulted,
  enumOf,
  list,
  listMap,
  mapOf,
  openObject,
  optional,
  type Parsed,
  port,
  referencedName,
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

const clientTls = openObject({ validation: optional(clientValidation, 'Validation of client certificates.') })

const gatewayTls = openObject({
  backend: optional(
    openObject({
      clientCertificateRef: optional(secretObjectReference, 'Client certificate for connections to backends.'),
      ...unread('resolvedRefs'),
    }),
    'TLS for connections to backends.',
  ),
  frontend: optional(
    openObject({
      default: optional(clientTls, 'Settings for all ports that perPort does not list.'),
      perPort: optional(
        listMap(
          'port',
          openObject({
            port: required(port(), 'Port.'),
            tls: required(clientTls, 'TLS settings of this port.'),
          }),
          { max: 64 },
        ),
        'Settings per port.',
      ),
    }),
    'TLS for connections from clients.',
  ),
})

const gatewaySpec = openObject({
  gatewayClassName: required(referencedName(), 'Name of the GatewayClass.'),
  listeners: required(listMap('name', listener, { min: 0, max: 64 }), 'Listeners that accept traffic.'),
  addresses: optional(
    list(
      openObject({
        type: defaulted(text({ min: 1, max: 253 }), 'IPAddress', 'Type of the address.'),
        value: optional(text({ max: 253 }), 'Value of the address. When unset, any address.'),
      }),
      { max: 16 },
    ),
    'Requested addresses.',
  ),
  infrastructure: optional(
    openObject({
      labels: optional(mapOf(text()), 'Labels of generated objects.'),
      annotations: optional(mapOf(text()), 'Annotations of generated objects.'),
      parametersRef: optional(typedLocalReference, 'A ProxyParameters object.'),
    }),
    'Settings of the objects generated for the Gateway.',
  ),
  allowedListeners: optional(
    openObject({
      namespaces: optional(
        openObject({
          from: defaulted(enumOf('All', 'Selector', 'Same', 'None'), 'None', 'Which namespaces are allowed.'),
          selector: optional(openLabelSelector, 'Label selector for namespaces, used when from is Selector.'),
        }),
        'Namespaces whose ListenerSets may attach. When unset, none.',
      ),
    }),
    'ListenerSets that may attach.',
  ),
  tls: optional(gatewayTls, 'TLS settings of the whole Gateway.'),
  ...unread('defaultScope', 'backendTLS'),
})

export const gateway = platformKind('Gateway', {
  spec: required(gatewaySpec, 'Desired state.'),
  status: platformStatus,
})

export type GatewaySpec = Parsed<typeof gatewaySpec>
export type GatewayObject = ObjectOf<typeof gateway>
export type { ListenerSpec } from './listener.ts'
