import {
  type ConfigProblem,
  exactlyOne,
  fieldPath,
  object,
  optional,
  type Parsed,
  problem,
  required,
  withRule,
} from '#schema/index.ts'
import { aiBackend } from './ai-backend.ts'
import { awsBackend } from './aws-backend.ts'
import { conditions } from './condition.ts'
import { mcpBackend } from './mcp-backend.ts'
import { type ObjectOf, ownKind } from './object.ts'
import { backendFull } from './policy-sections.ts'
import { a2aBackend, staticBackend } from './static-backend.ts'

/** The kinds of destination; a ProxyBackend is exactly one of them. */
const DESTINATIONS = ['ai', 'static', 'dynamicForwardProxy', 'mcp', 'aws', 'a2a'] as const
export type Destination = (typeof DESTINATIONS)[number]

const fields = object({
  static: optional(staticBackend, 'A host and port, or a Unix domain socket.'),
  a2a: optional(a2aBackend, 'An A2A agent.'),
  ai: optional(aiBackend, 'LLM providers.'),
  mcp: optional(mcpBackend, 'MCP servers.'),
  dynamicForwardProxy: optional(
    object({}),
    'Each request goes where its Host header says; TLS traffic where its SNI says. ' +
      'Callers can reach arbitrary destinations, so access must be controlled.',
  ),
  aws: optional(awsBackend, 'A service of a cloud.'),
  policies: optional(backendFull, 'Settings of the connection; stronger than those of ProxyPolicy objects.'),
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
    found.push(problem(fieldPath(at, 'ai'), 'not-together', 'AI policies require AI backend'))
  }
  if (spec.policies?.mcp !== undefined && spec.mcp === undefined) {
    found.push(problem(fieldPath(at, 'mcp'), 'not-together', 'MCP policies require MCP backend'))
  }
  return found
}

/** An agent runtime takes signed requests or a bearer token, not the tokens of other clouds (decision B92). */
function checkRuntimeCredentials(spec: View, path: string): readonly ConfigProblem[] {
  if (spec.aws === undefined) return []
  const at = fieldPath(path, 'policies.auth')
  return ['cloudTwo', 'cloudThree']
    .filter((cloud) => spec.policies?.auth?.[cloud] !== undefined)
    .map((cloud) => problem(fieldPath(at, cloud), 'not-together', `${cloud} may not be used with an agent runtime`))
}

/** `spec` of a ProxyBackend (specification 1, 2.3). */
const proxyBackendSpec = withRule(
  withRule(exactlyOne(DESTINATIONS, fields), {
    reads: ['policies'],
    description: 'policies.ai is for ai backends, policies.mcp for mcp backends.',
    check: checkPoliciesFit,
  }),
  {
    reads: ['policies'],
    description: 'An agent runtime takes no cloudTwo and cloudThree.',
    check: checkRuntimeCredentials,
  },
)

export const proxyBackendStatus = object({
  conditions: optional(conditions(), 'How the backend fares.'),
})

export const proxyBackend = ownKind('ProxyBackend', {
  spec: required(proxyBackendSpec, 'What is wanted.'),
  status: optional(proxyBackendStatus, 'How it fares; written by the gateway.'),
})

export type ProxyBackendSpec = Parsed<typeof proxyBackendSpec>
export type ProxyBackendObject = ObjectOf<typeof proxyBackend>

/** Which of the destinations it is. */
export function destinationOf({ spec }: ProxyBackendObject): Destination {
  const type = DESTINATIONS.find((name) => spec[name] !== undefined)
  if (type === undefined) throw new Error('a ProxyBackend without a destination was admitted')
  return type
}
