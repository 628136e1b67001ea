import { auth } from '#policies/backend/auth/index.ts'
import { extAuth as backendExtAuth } from '#policies/backend/ext-auth/index.ts'
import { health } from '#policies/backend/health/index.ts'
import { http as backendHttp } from '#policies/backend/http/index.ts'
import { tcp as backendTcp } from '#policies/backend/tcp/index.ts'
import { tls as backendTls } from '#policies/backend/tls/index.ts'
import { transformation as backendTransformation } from '#policies/backend/transformation/index.ts'
import { tunnel } from '#policies/backend/tunnel/index.ts'
import { accessLog } from '#policies/frontend/access-log/index.ts'
import { http as frontendHttp } from '#policies/frontend/http/index.ts'
import { metrics } from '#policies/frontend/metrics/index.ts'
import { networkAuthorization } from '#policies/frontend/network-authorization/index.ts'
import { proxyProtocol } from '#policies/frontend/proxy-protocol/index.ts'
import { tcp as frontendTcp } from '#policies/frontend/tcp/index.ts'
import { tls as frontendTls } from '#policies/frontend/tls/index.ts'
import { tracing } from '#policies/frontend/tracing/index.ts'
import { ofBackendRef, type PolicyDefinition, type PolicySource, type SettingDefinition } from '#policies/policy.ts'
import { backendRefMirror, requestMirror } from '#policies/route/request-mirror/index.ts'
import { requestRedirect } from '#policies/route/request-redirect/index.ts'
import { sessionPersistence } from '#policies/route/session-persistence/index.ts'
import { urlRewrite } from '#policies/route/url-rewrite/index.ts'
import { clientCertificate } from '#policies/shared/client-certificate.ts'
import { refusedPolicy } from '#policies/shared/refused-policy.ts'
import { apiKeyAuthentication } from '#policies/traffic/api-key-authentication/index.ts'
import { authorization } from '#policies/traffic/authorization/index.ts'
import { basicAuthentication } from '#policies/traffic/basic-authentication/index.ts'
import { cors } from '#policies/traffic/cors/index.ts'
import { csrf } from '#policies/traffic/csrf/index.ts'
import { directResponse } from '#policies/traffic/direct-response/index.ts'
import { extAuth } from '#policies/traffic/ext-auth/index.ts'
import { extProc } from '#policies/traffic/ext-proc/index.ts'
import { headerModifiers } from '#policies/traffic/header-modifiers/index.ts'
import { hostRewrite } from '#policies/traffic/host-rewrite/index.ts'
import { jwtAuthentication } from '#policies/traffic/jwt-authentication/index.ts'
import { rateLimit } from '#policies/traffic/rate-limit/index.ts'
import { retry } from '#policies/traffic/retry/index.ts'
import { timeouts } from '#policies/traffic/timeouts/index.ts'
import { transformation } from '#policies/traffic/transformation/index.ts'
import { BACKEND_PROTOCOLS } from '#protocols/backend-protocols.ts'

/**
 * Every field of the three sections and of the route filters, by section and name, in the order of the specification. To add a policy, add
 * a line here and one in `policy-order.ts`; the API, its references and secrets, merging and checks are derived from the definitions.
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
    // Set by the control plane
    refusedPolicy,
    // Filters of route rules
    requestMirror,
    requestRedirect,
    urlRewrite,
    // Of route rules
    sessionPersistence,
  },
  backend: {
    tcp: backendTcp,
    tls: backendTls,
    http: backendHttp,
    tunnel,
    auth,
    ai: BACKEND_PROTOCOLS.ai.policy,
    transformation: backendTransformation,
    health,
    mcp: BACKEND_PROTOCOLS.mcp.policy,
    extAuth: backendExtAuth,
    // Filters of a backendRef
    headerModifiers: ofBackendRef(headerModifiers, 'header modifiers'),
    urlRewrite: ofBackendRef(urlRewrite, 'filter URLRewrite'),
    requestRedirect: ofBackendRef(requestRedirect, 'filter RequestRedirect'),
    requestMirror: backendRefMirror,
    // Set by Gateways
    clientCertificate,
  },
} as const

export type PolicySection = keyof typeof POLICIES
export type FieldOf<Section extends PolicySection> = keyof (typeof POLICIES)[Section] & string

/** The value of a field as users write it, with schema defaults. */
export type SpecOf<
  Section extends PolicySection,
  Field extends FieldOf<Section>,
> = (typeof POLICIES)[Section][Field] extends {
  compile(sources: readonly PolicySource<infer Spec>[], ...rest: never): unknown
}
  ? Spec
  : never

/** The definition of a field whose name is known only at run time. */
export function policyDefinition(
  section: PolicySection,
  field: string,
): PolicyDefinition | SettingDefinition | undefined {
  const fields: Readonly<Record<string, PolicyDefinition | SettingDefinition>> = POLICIES[section]
  return Object.hasOwn(fields, field) ? fields[field] : undefined
}
