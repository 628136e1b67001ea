import { ai } from './backend/ai/index.ts'
import { auth } from './backend/auth/index.ts'
import { extAuth as backendExtAuth } from './backend/ext-auth/index.ts'
import { health } from './backend/health/index.ts'
import { http as backendHttp } from './backend/http/index.ts'
import { mcp } from './backend/mcp/index.ts'
import { tcp as backendTcp } from './backend/tcp/index.ts'
import { tls as backendTls } from './backend/tls/index.ts'
import { transformation as backendTransformation } from './backend/transformation/index.ts'
import { tunnel } from './backend/tunnel/index.ts'
import { accessLog } from './frontend/access-log/index.ts'
import { http as frontendHttp } from './frontend/http/index.ts'
import { metrics } from './frontend/metrics/index.ts'
import { networkAuthorization } from './frontend/network-authorization/index.ts'
import { proxyProtocol } from './frontend/proxy-protocol/index.ts'
import { tcp as frontendTcp } from './frontend/tcp/index.ts'
import { tls as frontendTls } from './frontend/tls/index.ts'
import { tracing } from './frontend/tracing/index.ts'
import type { PolicyDefinition, SettingDefinition } from './policy.ts'
import { requestMirror } from './route/request-mirror/index.ts'
import { requestRedirect } from './route/request-redirect/index.ts'
import { urlRewrite } from './route/url-rewrite/index.ts'
import { apiKeyAuthentication } from './traffic/api-key-authentication/index.ts'
import { authorization } from './traffic/authorization/index.ts'
import { basicAuthentication } from './traffic/basic-authentication/index.ts'
import { cors } from './traffic/cors/index.ts'
import { csrf } from './traffic/csrf/index.ts'
import { directResponse } from './traffic/direct-response/index.ts'
import { extAuth } from './traffic/ext-auth/index.ts'
import { extProc } from './traffic/ext-proc/index.ts'
import { headerModifiers } from './traffic/header-modifiers/index.ts'
import { hostRewrite } from './traffic/host-rewrite/index.ts'
import { jwtAuthentication } from './traffic/jwt-authentication/index.ts'
import { rateLimit } from './traffic/rate-limit/index.ts'
import { retry } from './traffic/retry/index.ts'
import { timeouts } from './traffic/timeouts/index.ts'
import { transformation } from './traffic/transformation/index.ts'

/**
 * Every field of the three sections and of the route filters, by section and name, in the order of the specification. Adding a policy
 * adds a line here and one in `order.ts`; the API, its references and secrets, merging and checks follow from the definitions.
 */
export const POLICIES = {
  frontend: {
    tcp: frontendTcp,
    networkAuthorization,
    tls: frontendTls,
    http: frontendHttp,
    proxyProtocol,
    accessLog,
    tracing,
    metrics,
  },
  traffic: {
    transformation,
    extProc,
    extAuth,
    rateLimit,
    cors,
    csrf,
    headerModifiers,
    hostRewrite,
    timeouts,
    retry,
    authorization,
    jwtAuthentication,
    basicAuthentication,
    apiKeyAuthentication,
    directResponse,
    // Filters of route rules
    requestMirror,
    requestRedirect,
    urlRewrite,
  },
  backend: {
    tcp: backendTcp,
    tls: backendTls,
    http: backendHttp,
    tunnel,
    auth,
    ai,
    transformation: backendTransformation,
    health,
    mcp,
    extAuth: backendExtAuth,
  },
} as const

type Section = keyof typeof POLICIES

/** The definition of a field whose name is known only at run time. */
export function policyDefinition(section: Section, field: string): PolicyDefinition | SettingDefinition | undefined {
  const fields: Readonly<Record<string, PolicyDefinition | SettingDefinition>> = POLICIES[section]
  return Object.hasOwn(fields, field) ? fields[field] : undefined
}
