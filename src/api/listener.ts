import {
  defaulted,
  enumOf,
  groupName,
  kindName,
  list,
  mapOf,
  openObject,
  optional,
  type Parsed,
  port,
  required,
  sectionName,
  text,
  withMeanings,
} from '#schema/index.ts'
import { clientValidation } from './client-validation.ts'
import { GATEWAY_GROUP } from './groups.ts'
import { LISTENER } from './meanings.ts'
import { hostname, openLabelSelector, secretObjectReference } from './platform-fields.ts'

const listenerTls = openObject({
  mode: defaulted(
    enumOf('Terminate', 'Passthrough'),
    'Terminate',
    'Terminate: the gateway terminates TLS. Passthrough: the backend does.',
  ),
  certificateRefs: optional(list(secretObjectReference, { max: 64 }), 'Server certificates, for mode Terminate.'),
  options: optional(mapOf(text()), 'Implementation-specific options.'),
  frontendValidation: optional(
    clientValidation,
    'Validation of client certificates, in the form of older Gateway API versions.',
  ),
})

const SAME_NAMESPACE = { from: 'Same' as const }

const allowedRoutes = openObject({
  namespaces: defaulted(
    openObject({
      from: defaulted(enumOf('All', 'Selector', 'Same', 'None'), 'Same', 'Which namespaces are allowed.'),
      selector: optional(openLabelSelector, 'Label selector for namespaces, used when from is Selector.'),
    }),
    SAME_NAMESPACE,
    'Namespaces whose routes may attach.',
  ),
  kinds: optional(
    list(
      openObject({
        group: defaulted(groupName(), GATEWAY_GROUP, 'API group of the routes.'),
        kind: required(kindName(), 'Kind of the routes.'),
      }),
      { max: 8 },
    ),
    'Kinds of routes that may attach. When unset, the kinds that the protocol supports.',
  ),
})

/** A listener of a Gateway or ListenerSet. */
export const listener = withMeanings(
  LISTENER,
  openObject({
    name: required(
      sectionName(),
      'Name of the listener. Routes and policies refer to it with this name as sectionName.',
    ),
    hostname: optional(hostname(), 'Host name to match. When unset, any host.'),
    port: required(port(), 'Port to listen on.'),
    protocol: required(text({ min: 1, max: 255 }), 'Protocol: HTTP, HTTPS, TLS or TCP.'),
    tls: optional(listenerTls, 'TLS settings, for protocols HTTPS and TLS.'),
    allowedRoutes: defaulted(allowedRoutes, { namespaces: SAME_NAMESPACE }, 'Routes that may attach.'),
  }),
)

export type ListenerSpec = Parsed<typeof listener>
