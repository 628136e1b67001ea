import type { PlanItem } from '#plan/item.ts'

/** What this version knows of a value: anything, the values of an enumeration, or the members of an object. Those of a list are those of its items. */
export type Known = true | readonly string[] | { readonly [name: string]: Known }

const NAME = { namespace: true, name: true } as const
const HEAD = { kind: true, key: true, origin: true, mayIgnore: true } as const
const VALUE_MATCH = { name: true, type: ['Exact', 'RegularExpression'], value: true } as const
const RULE = {
  ...HEAD,
  rule: true,
  ruleName: true,
  created: true,
  attachments: { listener: true, hostnames: true },
  backends: { backend: true, weight: true, path: true, filters: true },
} as const

type FieldsOf<Kind extends PlanItem['kind']> = keyof Extract<PlanItem, { readonly kind: Kind }>

/**
 * The fields of each kind of item. A field of a newer version is not here, and neither is one that was withdrawn: an item with it is not what this version
 * would make of it.
 */
export const ITEM_FIELDS: { readonly [K in PlanItem['kind']]: { readonly [F in FieldsOf<K>]-?: Known } } = {
  gateway: {
    ...HEAD,
    ...NAME,
    shutdown: { min: true, max: true },
    mesh: { trustDomain: true, additionalTrustDomains: true },
  },
  listener: {
    ...HEAD,
    gateway: NAME,
    listenerSet: NAME,
    name: true,
    address: true,
    port: true,
    protocol: ['HTTP', 'HTTPS', 'TLS', 'TCP'],
    hostname: true,
    tlsMode: ['Terminate', 'Passthrough'],
    certificates: true,
    clientValidation: { authorities: true, mode: ['AllowValidOnly', 'AllowInsecureFallback'] },
    forwardedHeaders: { trustedProxies: true },
    acmeThumbprint: true,
    broken: true,
  },
  route: {
    ...RULE,
    route: { ...NAME, kind: ['HTTPRoute', 'GRPCRoute'] },
    matches: {
      path: { type: ['Exact', 'PathPrefix', 'RegularExpression'], value: true },
      method: true,
      headers: VALUE_MATCH,
      queryParams: VALUE_MATCH,
    },
    broken: true,
  },
  'relay-route': { ...RULE, route: { ...NAME, kind: ['TCPRoute', 'TLSRoute'] } },
  policy: {
    ...HEAD,
    section: true,
    phase: ['PreRouting', 'PostRouting'],
    field: true,
    target: true,
    level: true,
    spec: true,
    path: true,
    created: true,
    notPermitted: true,
    broken: true,
  },
  backend: {
    ...HEAD,
    ...NAME,
    type: true,
    spec: true,
    path: true,
    bounds: { maxConnections: true, maxWaiting: true },
    broken: true,
  },
  endpoints: { ...HEAD, addresses: { host: true, port: true, meshPod: { ...NAME, serviceAccount: true } } },
  secret: { ...HEAD, ...NAME, labels: true, data: true },
  configmap: { ...HEAD, ...NAME, data: true },
  workload: { ...HEAD, ...NAME, serviceAccount: true, addresses: true },
}

/** The path of the first part of a value that is not known; undefined: all of it is. */
export function unknownIn(known: Known, value: unknown, path = ''): string | undefined {
  if (known === true || value === null || value === undefined) return undefined
  if (Array.isArray(value)) {
    for (const item of value) {
      const found = unknownIn(known, item, path)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (Array.isArray(known)) return known.includes(value as string) ? undefined : path
  const members = known as Extract<Known, { readonly [name: string]: Known }>
  for (const [name, member] of Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`
    const found = Object.hasOwn(members, name) ? unknownIn(members[name]!, member, at) : at
    if (found !== undefined) return found
  }
  return undefined
}
