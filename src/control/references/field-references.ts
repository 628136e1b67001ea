import type { PolicySection } from '#plan/item.ts'

/** What a policy field refers to, and where in the field: `[]` stands for every item of a list. */
export interface FieldReference {
  readonly at: string
  readonly to: 'backend' | 'keySet' | 'secret' | 'secrets' | 'configMap'
  /** Entries that the Secret or ConfigMap must have; of an inner list, one. */
  readonly entries?: readonly (readonly string[])[]
}

const backend = (at: string): FieldReference => ({ at, to: 'backend' })
const secret = (at: string, ...entries: (readonly string[])[]): FieldReference => ({ at, to: 'secret', entries })

/** References of a field, once in its own form and once in its conditional one (specification 2, 2.2.1). */
function conditional(reference: FieldReference): readonly FieldReference[] {
  return [reference, { ...reference, at: `conditional[].policy.${reference.at}` }]
}

const TLS: readonly FieldReference[] = [
  secret('mtlsCertificateRef[]', ['tls.crt'], ['tls.key']),
  { at: 'caCertificateRefs[]', to: 'configMap', entries: [['ca.crt']] },
]

const AUTH: readonly FieldReference[] = [
  secret('secretRef', ['Authorization']),
  secret('cloudOne.secretRef', ['accessKey'], ['secretKey']),
  secret('cloudTwo.secretRef', ['clientID'], ['tenantID'], ['clientSecret']),
  secret('cloudThree.secretRef', ['credentials.json']),
]

function below(prefix: string, references: readonly FieldReference[]): readonly FieldReference[] {
  return references.map((reference) => ({ ...reference, at: `${prefix}.${reference.at}` }))
}

/** Settings of the connection to a guard service (`BackendSimple`). */
function guardPolicies(guard: string): readonly FieldReference[] {
  return below(`${guard}.policies`, [...below('tls', TLS), ...below('auth', AUTH), backend('tunnel.backendRef')])
}

const RESPONSE_GUARDS: readonly FieldReference[] = [
  backend('webhook.backendRef'),
  ...guardPolicies('guardrailsServiceOne'),
  ...guardPolicies('guardrailsServiceTwo'),
]

const REQUEST_GUARDS: readonly FieldReference[] = [...RESPONSE_GUARDS, ...guardPolicies('moderationEndpoint')]

const keySet = (at: string): FieldReference => ({ at, to: 'keySet' })

/** Every reference that a policy field can hold. A field that is missing here refers to nothing. */
const REFERENCES: { readonly [S in PolicySection]: Readonly<Record<string, readonly FieldReference[]>> } = {
  frontend: {
    accessLog: [backend('otlp.backendRef')],
    tracing: [backend('backendRef')],
  },
  traffic: {
    extAuth: conditional(backend('backendRef')),
    extProc: conditional(backend('backendRef')),
    rateLimit: conditional(backend('global.backendRef')),
    jwtAuthentication: [keySet('providers[].jwks.remote.backendRef')],
    basicAuthentication: [secret('secretRef', ['.htaccess', 'users'])],
    apiKeyAuthentication: [secret('secretRef'), { at: 'secretSelector', to: 'secrets' }],
  },
  backend: {
    tls: TLS,
    tunnel: [backend('backendRef')],
    auth: AUTH,
    extAuth: [backend('backendRef')],
    ai: [...below('promptGuard.request[]', REQUEST_GUARDS), ...below('promptGuard.response[]', RESPONSE_GUARDS)],
    mcp: [keySet('authentication.jwks.backendRef')],
  },
}

export function referencesOf(section: PolicySection, field: string): readonly FieldReference[] {
  return REFERENCES[section][field] ?? []
}

/** A value found in a field, with its path relative to the field. */
export interface Found {
  readonly value: unknown
  readonly path: string
}

/** Follows `a.b[].c` through a value; what is absent yields nothing. */
export function valuesAt(value: unknown, at: string): readonly Found[] {
  let found: readonly Found[] = [{ value, path: '' }]
  for (const step of at.split('.')) {
    const name = step.endsWith('[]') ? step.slice(0, -2) : step
    found = found.flatMap(({ value: outer, path }) => {
      const inner = memberOf(outer, name)
      if (inner === undefined) return []
      if (name === step) return [{ value: inner, path: `${path}.${name}` }]
      return itemsOf(inner).map((item, index) => ({ value: item, path: `${path}.${name}[${index}]` }))
    })
  }
  return found
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
