import { meaningsOfProviders, PRODUCTS, withProduct } from '#base/products.ts'
import { BACKEND_PROTOCOLS } from '#protocols/backend-protocols.ts'
import {
  type ConfigProblem,
  exactlyOne,
  fieldPath,
  object,
  optional,
  type Parsed,
  problem,
  required,
  withMeanings,
  withRule,
} from '#schema/index.ts'
import { conditions } from './condition.ts'
import { type ObjectOf, ownKind } from './object.ts'
import { backendFull } from './policy-sections.ts'

/** The types of destinations; a ProxyBackend has exactly one. */
const DESTINATIONS = ['ai', 'static', 'dynamicForwardProxy', 'mcp', 'aws', 'a2a'] as const
export type Destination = (typeof DESTINATIONS)[number]

const MEANINGS = {
  ...meaningsOfProviders('ai.provider.'),
  llm: 'use "ai"',
  provider: 'use "ai.provider"',
  providers: 'use "ai.groups", each of which has "providers"',
  host: 'use "static.host" and "static.port"',
  url: 'use "static.host" and "static.port"',
  http: 'use "static"',
  service: 'refer to the Service from a route; a ProxyBackend is not needed',
  targets: 'use "mcp.targets"',
  agent: 'use "a2a"',
  tls: 'use "policies.tls"',
  auth: 'use "policies.auth"',
}

const fields = object({
  static: optional(BACKEND_PROTOCOLS.static.schema, 'A host and port, or a Unix domain socket.'),
  a2a: optional(BACKEND_PROTOCOLS.a2a.schema, 'An A2A agent.'),
  ai: optional(BACKEND_PROTOCOLS.ai.schema, 'LLM providers.'),
  mcp: optional(BACKEND_PROTOCOLS.mcp.schema, 'MCP servers.'),
  dynamicForwardProxy: optional(
    BACKEND_PROTOCOLS.dynamicForwardProxy.schema,
    'The Host header selects the destination of each request; for TLS traffic, the SNI does. ' +
      'Clients can reach arbitrary destinations: restrict access with an authorization policy.',
  ),
  aws: optional(BACKEND_PROTOCOLS.aws.schema, `A service of ${PRODUCTS.cloudOne}.`),
  policies: optional(backendFull, 'Backend policies. They take precedence over ProxyPolicy objects.'),
})

type View = { readonly [D in Destination]?: unknown } & {
  readonly policies?: {
    readonly ai?: unknown
    readonly mcp?: unknown
    readonly auth?: Readonly<Record<string, unknown>>
  }
}

function checkPoliciesFit(spec: View, path: string): readonly ConfigProblem[] {
  const at = fieldPath(path, 'policies')
  const found: ConfigProblem[] = []
  if (spec.policies?.ai !== undefined && spec.ai === undefined) {
    found.push(
      problem(fieldPath(at, 'ai'), 'not-together', 'policies.ai requires an ai backend; remove it or set spec.ai'),
    )
  }
  if (spec.policies?.mcp !== undefined && spec.mcp === undefined) {
    found.push(
      problem(fieldPath(at, 'mcp'), 'not-together', 'policies.mcp requires an mcp backend; remove it or set spec.mcp'),
    )
  }
  return found
}

/** An agent runtime accepts signed requests or a bearer token, not the tokens of other clouds (decision B92). */
function checkRuntimeCredentials(spec: View, path: string): readonly ConfigProblem[] {
  if (spec.aws === undefined) return []
  const at = fieldPath(path, 'policies.auth')
  return (['cloudTwo', 'cloudThree'] as const)
    .filter((cloud) => spec.policies?.auth?.[cloud] !== undefined)
    .map((cloud) =>
      problem(
        fieldPath(at, cloud),
        'not-together',
        `${withProduct(cloud)} cannot be used with an agent runtime; use ${withProduct('cloudOne')} or a bearer token`,
      ),
    )
}

/** `spec` of a ProxyBackend (specification 1, 2.3). */
const proxyBackendSpec = withRule(
  withRule(withMeanings(MEANINGS, exactlyOne(DESTINATIONS, fields)), {
    reads: ['policies'],
    description: 'policies.ai requires an ai backend, policies.mcp an mcp backend.',
    check: checkPoliciesFit,
    onServer:
      '!has(self.policies) || (!has(self.policies.ai) || has(self.ai)) && (!has(self.policies.mcp) || has(self.mcp))',
  }),
  {
    reads: ['policies'],
    description: `${withProduct('cloudTwo')} and ${withProduct('cloudThree')} cannot be used with an agent runtime.`,
    check: checkRuntimeCredentials,
    onServer:
      '!has(self.aws) || !has(self.policies) || !has(self.policies.auth) || ' +
      '!has(self.policies.auth.cloudTwo) && !has(self.policies.auth.cloudThree)',
  },
)

export const proxyBackendStatus = object({
  conditions: optional(conditions(), 'Conditions of the backend.'),
})

export const proxyBackend = ownKind('ProxyBackend', {
  spec: required(proxyBackendSpec, 'Desired state.'),
  status: optional(proxyBackendStatus, 'Observed state, written by the gateway.'),
})

export type ProxyBackendSpec = Parsed<typeof proxyBackendSpec>
/** An entry of `mcp.targets`: a selector, or a static target. */
export type McpTargetSelectorSpec = NonNullable<ProxyBackendSpec['mcp']>['targets'][number]
export type McpSelectorSpec = NonNullable<McpTargetSelectorSpec['selector']>
export type McpTargetSpec = NonNullable<McpTargetSelectorSpec['static']>
export type ProxyBackendObject = ObjectOf<typeof proxyBackend>

/** The type of the destination. */
export function destinationOf({ spec }: ProxyBackendObject): Destination {
  const type = DESTINATIONS.find((name) => spec[name] !== undefined)
  if (type === undefined) throw new Error('a ProxyBackend without a destination was admitted')
  return type
}
