import { backendAi } from '#policies/backend/ai/schema.ts'
import { backendExtAuth } from '#policies/backend/ext-auth/schema.ts'
import { backendHealth } from '#policies/backend/health/schema.ts'
import { backendMcp } from '#policies/backend/mcp/schema.ts'
import { backendTransformation } from '#policies/backend/transformation/schema.ts'
import { accessLog } from '#policies/frontend/access-log/schema.ts'
import { frontendHttp } from '#policies/frontend/http/schema.ts'
import { metrics } from '#policies/frontend/metrics/schema.ts'
import { networkAuthorization } from '#policies/frontend/network-authorization/schema.ts'
import { proxyProtocol } from '#policies/frontend/proxy-protocol/schema.ts'
import { frontendTcp } from '#policies/frontend/tcp/schema.ts'
import { frontendTls } from '#policies/frontend/tls/schema.ts'
import { tracing } from '#policies/frontend/tracing/schema.ts'
import { backendSimpleFields } from '#policies/shared/backend-simple.ts'
import { apiKeyAuthentication } from '#policies/traffic/api-key-authentication/schema.ts'
import { authorization } from '#policies/traffic/authorization/schema.ts'
import { basicAuthentication } from '#policies/traffic/basic-authentication/schema.ts'
import { cors } from '#policies/traffic/cors/schema.ts'
import { csrf } from '#policies/traffic/csrf/schema.ts'
import { trafficDirectResponse } from '#policies/traffic/direct-response/schema.ts'
import { trafficExtAuth } from '#policies/traffic/ext-auth/schema.ts'
import { trafficExtProc } from '#policies/traffic/ext-proc/schema.ts'
import { headerModifiers } from '#policies/traffic/header-modifiers/schema.ts'
import { hostRewrite } from '#policies/traffic/host-rewrite/schema.ts'
import { jwtAuthentication } from '#policies/traffic/jwt-authentication/schema.ts'
import { trafficRateLimit } from '#policies/traffic/rate-limit/schema.ts'
import { retry } from '#policies/traffic/retry/schema.ts'
import { timeouts } from '#policies/traffic/timeouts/schema.ts'
import { trafficTransformation } from '#policies/traffic/transformation/schema.ts'
import {
  type ConfigProblem,
  enumOf,
  fieldPath,
  notEmpty,
  object,
  optional,
  type Parsed,
  problem,
  withRule,
} from '#schema/index.ts'

const frontendFields = {
  tcp: optional(frontendTcp, 'Incoming TCP connections.'),
  networkAuthorization: optional(
    networkAuthorization,
    'Rules on incoming connections, asked before any protocol is handled, for example on source.address.',
  ),
  tls: optional(frontendTls, 'Incoming TLS.'),
  http: optional(frontendHttp, 'Incoming HTTP.'),
  proxyProtocol: optional(proxyProtocol, 'PROXY protocol on incoming connections.'),
  accessLog: optional(accessLog, 'Access log.'),
  tracing: optional(tracing, 'Traces.'),
  metrics: optional(metrics, 'Labels of metrics.'),
}

const trafficFields = {
  transformation: optional(trafficTransformation, 'Changes to requests and responses.'),
  extProc: optional(trafficExtProc, 'Processing by an external server.'),
  extAuth: optional(trafficExtAuth, 'Authorization by an external server.'),
  rateLimit: optional(trafficRateLimit, 'Rate limits.'),
  cors: optional(cors, 'Requests from scripts of other origins.'),
  csrf: optional(csrf, 'Protection against forged requests of other sites.'),
  headerModifiers: optional(headerModifiers, 'Fixed changes to headers.'),
  hostRewrite: optional(hostRewrite, 'The Host header towards the backend.'),
  timeouts: optional(timeouts, 'Time limits.'),
  retry: optional(retry, 'Sending a request again.'),
  authorization: optional(authorization, 'CEL rules on requests; those of all policies come together.'),
  jwtAuthentication: optional(jwtAuthentication, 'Callers show a JSON Web Token.'),
  basicAuthentication: optional(basicAuthentication, 'Callers show a user and a password.'),
  apiKeyAuthentication: optional(apiKeyAuthentication, 'Callers show an API key.'),
  directResponse: optional(trafficDirectResponse, 'A fixed answer, without a backend.'),
}

const backendWithAiFields = {
  ...backendSimpleFields,
  ai: optional(backendAi, 'Settings for LLM backends.'),
  transformation: optional(backendTransformation, 'Changes to requests and responses.'),
  health: optional(backendHealth, 'What counts as unhealthy, and what happens then.'),
}

const backendFullFields = {
  ...backendWithAiFields,
  mcp: optional(backendMcp, 'Settings for MCP backends.'),
  extAuth: optional(backendExtAuth, 'Authorization by an external server.'),
}

/** `spec.frontend` (specification 2, 2.1). */
export const frontend = notEmpty(object(frontendFields))

/** What can act before a route is known (decision A-25). */
const PRE_ROUTING_FIELDS = [
  'jwtAuthentication',
  'basicAuthentication',
  'apiKeyAuthentication',
  'extAuth',
  'authorization',
  'extProc',
  'transformation',
  'cors',
] as const satisfies readonly (keyof typeof trafficFields)[]

function checkPreRoutingFields(
  section: { readonly phase?: 'PreRouting' | 'PostRouting' },
  path: string,
): readonly ConfigProblem[] {
  if (section.phase !== 'PreRouting') return []
  const allowed: readonly string[] = ['phase', ...PRE_ROUTING_FIELDS]
  const message = `phase PreRouting only supports ${PRE_ROUTING_FIELDS.join(', ')}`
  return Object.keys(section)
    .filter((field) => !allowed.includes(field))
    .map((field) => problem(fieldPath(path, field), 'phase-not-allowed', message))
}

/** `spec.traffic` (specification 2, 2.2). */
export const traffic = withRule(
  object({
    phase: optional(
      enumOf('PreRouting', 'PostRouting'),
      'When the section runs: before a route is chosen, or after (the default).',
    ),
    ...trafficFields,
  }),
  {
    reads: ['phase'],
    description: 'Phase PreRouting allows only fields that can act before a route is known.',
    check: checkPreRoutingFields,
  },
)

/** `spec.backend` and `ProxyBackend.spec.policies` (specification 2, 2.3, `BackendFull`). */
export const backendFull = notEmpty(object(backendFullFields))

/** `policies` of an LLM provider in a group (`BackendWithAI`). */
export const backendWithAi = notEmpty(object(backendWithAiFields))

function namesOf<Fields extends object>(fields: Fields): readonly (keyof Fields & string)[] {
  return Object.freeze(Object.keys(fields)) as readonly (keyof Fields & string)[]
}

/** The fields of each section that merge, in the order of the specification. */
export const FRONTEND_FIELDS = namesOf(frontendFields)
export const TRAFFIC_FIELDS = namesOf(trafficFields)
export const BACKEND_FIELDS = namesOf(backendFullFields)

export type FrontendField = (typeof FRONTEND_FIELDS)[number]
export type TrafficField = (typeof TRAFFIC_FIELDS)[number]
export type BackendField = (typeof BACKEND_FIELDS)[number]

export type FrontendSpec = Parsed<typeof frontend>
export type TrafficSpec = Parsed<typeof traffic>
export type BackendPolicySpec = Parsed<typeof backendFull>
export type BackendWithAiSpec = Parsed<typeof backendWithAi>
