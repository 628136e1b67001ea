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
} from '#schema/index.ts'
import { clientValidation } from './client-validation.ts'
import { hostname, openLabelSelector, secretObjectReference } from './platform-fields.ts'

const listenerTls = openObject({
  mode: defaulted(enumOf('Terminate', 'Passthrough'), 'Terminate', 'Whether TLS ends here or at the backend.'),
  certificateRefs: optional(list(secretObjectReference, { max: 64 }), 'Certificates, for Terminate.'),
  options: optional(mapOf(text()), 'Options of implementations.'),
  frontendValidation: optional(
    clientValidation,
    'Client certificates, as older versions of the Gateway API have them.',
  ),
})

const SAME_NAMESPACE = { from: 'Same' as const }

const allowedRoutes = openObject({
  namespaces: defaulted(
    openObject({
      from: defaulted(enumOf('All', 'Selector', 'Same', 'None'), 'Same', 'Which namespaces.'),
      selector: optional(openLabelSelector, 'Labels of the namespaces, for Selector.'),
    }),
    SAME_NAMESPACE,
    'Namespaces whose routes may attach.',
  ),
  kinds: optional(
    list(
      openObject({
        group: defaulted(groupName(), 'gateway.networking.k8s.io', 'API group of the routes.'),
        kind: required(kindName(), 'Kind of the routes.'),
      }),
      { max: 8 },
    ),
    'Kinds of routes that may attach; those that fit the protocol when unset.',
  ),
})

/** A listener of a Gateway or ListenerSet. */
export const listener = openObject({
  name: required(sectionName(), 'Name of the listener; the sectionName by which routes and policies reach it.'),
  hostname: optional(hostname(), 'Hostname served; any when unset.'),
  port: required(port(), 'Port listened on.'),
  protocol: required(text({ min: 1, max: 255 }), 'HTTP, HTTPS, TLS or TCP.'),
  tls: optional(listenerTls, 'TLS, for HTTPS and TLS.'),
  allowedRoutes: defaulted(allowedRoutes, { namespaces: SAME_NAMESPACE }, 'Routes that may attach.'),
})

export type ListenerSpec = Parsed<typeof listener>
