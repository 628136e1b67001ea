import type { Meanings } from '#base/products.ts'

// What to write instead of names that users of other gateways and proxies write. A name that is only misspelled needs no entry.

export const MATCH_TYPES: Meanings = {
  regex: 'use "RegularExpression"',
  regexp: 'use "RegularExpression"',
  equals: 'use "Exact"',
  startswith: 'use "PathPrefix", which compares whole segments of the path',
}

export const PATH_MATCH: Meanings = {
  prefix: 'use "type: PathPrefix" and "value"',
  exact: 'use "type: Exact" and "value"',
  regex: 'use "type: RegularExpression" and "value"',
}

const PATH_WORDS: Meanings = {
  uri: 'use "path" with "type" and "value"',
  prefix: 'use "path" with "type: PathPrefix" and "value"',
  regex: 'use "path" with "type: RegularExpression" and "value"',
}

export const REQUEST_MATCH: Meanings = {
  ...PATH_WORDS,
  query: 'use "queryParams"',
  queryparameters: 'use "queryParams"',
  methods: 'use one match for each "method"',
  host: 'use "hostnames" of the route',
}

const TO_BACKENDS = 'use "backendRefs"'

const DESTINATION_WORDS: Meanings = Object.fromEntries(
  ['backend', 'backends', 'destination', 'destinations', 'service', 'services', 'upstream', 'upstreams', 'to'].map(
    (word) => [word, TO_BACKENDS],
  ),
)

export const RULE: Meanings = {
  ...DESTINATION_WORDS,
  route: TO_BACKENDS,
  path: 'use "matches", each of which may have "path"',
  headers: 'use "matches" to compare headers, or a filter of type RequestHeaderModifier to change them',
  retries: 'use "retry" with "attempts"',
  rewrite: 'use a filter of type URLRewrite',
  urlrewrite: 'use a filter of type URLRewrite',
  redirect: 'use a filter of type RequestRedirect',
  mirror: 'use a filter of type RequestMirror',
  cors: 'use a filter of type CORS, or a ProxyPolicy with "traffic.cors"',
  ratelimit: 'use a ProxyPolicy with "traffic.rateLimit"',
}

export const ROUTE: Meanings = {
  ...DESTINATION_WORDS,
  hosts: 'use "hostnames"',
  host: 'use "hostnames"',
  domains: 'use "hostnames"',
  gateways: 'use "parentRefs"',
  gateway: 'use "parentRefs"',
  http: 'use "rules"',
  routes: 'use "rules"',
  paths: 'use "rules", whose "matches" have "path"',
}

export const LISTENER: Meanings = {
  hosts: 'use one listener for each "hostname"',
  hostnames: 'use one listener for each "hostname"',
  certificaterefs: 'use "tls.certificateRefs"',
  certificates: 'use "tls.certificateRefs"',
}

export const POLICY: Meanings = {
  target: 'use "targetRefs", a list',
  selector: 'use "targetSelectors"',
  ai: 'use "backend.ai"',
  mcp: 'use "backend.mcp"',
  http: 'use "traffic" for requests, "frontend.http" for clients or "backend.http" for backends',
}

const IDENTITY = 'use "jwtAuthentication", "apiKeyAuthentication" or "basicAuthentication"'

export const TRAFFIC: Meanings = {
  auth: IDENTITY,
  authentication: IDENTITY,
  oauth: 'use "jwtAuthentication"',
  oauth2: 'use "jwtAuthentication"',
  oidc: 'use "jwtAuthentication"',
  rbac: 'use "authorization"',
  extauthz: 'use "extAuth"',
  headers: 'use "headerModifiers"',
  retries: 'use "retry" with "attempts"',
  rewrite: 'use "hostRewrite", or a filter of type URLRewrite in the HTTPRoute',
  redirect: 'use a filter of type RequestRedirect in the HTTPRoute',
  mirror: 'use a filter of type RequestMirror in the HTTPRoute',
  promptguard: 'use "backend.ai.promptGuard"',
  loadbalancer: 'use weights of "backendRefs"; endpoints are balanced by health',
}

export const BACKEND: Meanings = {
  circuitbreaker: 'use "health" with "eviction"',
  outlierdetection: 'use "health" with "eviction"',
  healthcheck: 'use "health"',
  loadbalancer: 'use weights of "backendRefs"; endpoints are balanced by health',
  timeout: 'use "traffic.timeouts", or "tcp.connectTimeout" for connections',
  timeouts: 'use "traffic.timeouts", or "tcp.connectTimeout" for connections',
  retries: 'use "traffic.retry"',
  promptguard: 'use "ai.promptGuard"',
  headers: 'use "transformation"',
}

/** Kinds of other configuration APIs. */
export const KIND: Meanings = {
  ingress: 'use a Gateway and an HTTPRoute',
  ingressroute: 'use an HTTPRoute',
  virtualservice: 'use an HTTPRoute',
  httpproxy: 'use an HTTPRoute',
  backend: 'use a ProxyBackend',
  destinationrule: 'use a ProxyPolicy with "backend"',
  backendtrafficpolicy: 'use a ProxyPolicy with "backend"',
  clienttrafficpolicy: 'use a ProxyPolicy with "frontend"',
  securitypolicy: 'use a ProxyPolicy with "traffic"',
  trafficpolicy: 'use a ProxyPolicy with "traffic"',
  aigatewayroute: 'use an HTTPRoute and a ProxyBackend with "ai"',
}
