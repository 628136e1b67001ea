import {
  backendObjectReference,
  byteSize,
  type ConfigProblem,
  celExpression,
  defaulted,
  durationOrCel,
  enumOf,
  exactlyOne,
  fieldPath,
  integer,
  list,
  mapOf,
  object,
  optional,
  type Parsed,
  problem,
  required,
  shortString,
  text,
  withRule,
} from '#schema/index.ts'

const grpc = object({
  contextExtensions: optional(mapOf(text(), { max: 64 }), 'Static values to send as context extensions.'),
  requestMetadata: optional(
    mapOf(celExpression(), { max: 64 }),
    'CEL expressions for the filter metadata of the metadata context. When unset and the request has JWT claims, the claims are sent under the standard JWT key.',
  ),
})

const http = object({
  path: optional(
    celExpression(),
    'CEL expression for the path of the authorization request. When unset, the path of the request.',
  ),
  redirect: optional(
    celExpression(),
    'CEL expression for the redirect URL of a client that the server refuses with 401 or 403, for example a sign-in page.',
  ),
  allowedRequestHeaders: optional(
    list(shortString(), { max: 64 }),
    'Request headers to send to the server. When unset, "Authorization".',
  ),
  addRequestHeaders: optional(mapOf(celExpression(), { max: 64 }), 'Headers to add to the authorization request.'),
  allowedResponseHeaders: optional(
    list(shortString(), { max: 64 }),
    'Headers of the authorization response to copy to the backend request.',
  ),
  responseMetadata: optional(
    mapOf(celExpression(), { max: 64 }),
    'CEL expressions for values from the authorization response. Later expressions read them as "extauthz".',
  ),
})

const cache = object({
  key: required(
    list(celExpression(), { min: 1, max: 16 }),
    'CEL expressions that form the cache key. They must cover every property of the request that the server evaluates.',
  ),
  ttl: required(
    durationOrCel(),
    'How long a decision is cached: a duration such as "5m", or a CEL expression that returns a duration or an expiry timestamp.',
  ),
  maxEntries: defaulted(integer({ min: 1 }), 10_000, 'Maximum number of cached decisions, in all workers together.'),
})

function checkCacheNeedsGrpc(
  spec: { readonly cache?: unknown; readonly grpc?: unknown },
  path: string,
): readonly ConfigProblem[] {
  if (spec.cache === undefined || spec.grpc !== undefined) return []
  return [problem(fieldPath(path, 'cache'), 'not-together', 'cache can only be set with grpc')]
}

/** External authorization (specification 2, 2.2.6); used in `traffic` and in `backend`. */
export const extAuth = withRule(
  exactlyOne(
    ['grpc', 'http'],
    object({
      backendRef: required(backendObjectReference(), 'Service or ProxyBackend of the authorization server.'),
      failureMode: optional(
        enumOf('FailClosed', 'FailOpen'),
        'Behavior when the server does not respond. FailClosed (the default): refuse the request. FailOpen: allow it.',
      ),
      grpc: optional(grpc, 'Use the gRPC external authorization protocol.'),
      http: optional(http, 'Use an HTTP request. Any status code except 200 refuses the request.'),
      forwardBody: optional(
        object({ maxSize: required(byteSize(), 'Maximum size of the body. Requests with a larger body are refused.') }),
        'Send the request body to the server. The body is buffered.',
      ),
      cache: optional(cache, 'Cache for decisions of a gRPC server.'),
    }),
  ),
  {
    reads: [],
    description: 'cache can only be set with grpc.',
    check: checkCacheNeedsGrpc,
    onServer: '!has(self.cache) || has(self.grpc)',
  },
)

export type ExtAuthSpec = Parsed<typeof extAuth>
