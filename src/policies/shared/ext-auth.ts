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
  contextExtensions: optional(mapOf(text(), { max: 64 }), 'Fixed values sent in the context extensions.'),
  requestMetadata: optional(
    mapOf(celExpression(), { max: 64 }),
    'Values sent as filter metadata of the metadata context. Unset, and with JWT claims present: the claims under the usual JWT key.',
  ),
})

const http = object({
  path: optional(celExpression(), 'Path asked for on the server; the path of the request when unset.'),
  redirect: optional(
    celExpression(),
    'Where the caller is sent when the server answers 401 or 403, for example a sign-in page.',
  ),
  allowedRequestHeaders: optional(
    list(shortString(), { max: 64 }),
    'Request headers sent to the server; "Authorization" when unset.',
  ),
  addRequestHeaders: optional(mapOf(celExpression(), { max: 64 }), 'Headers added to the request to the server.'),
  allowedResponseHeaders: optional(
    list(shortString(), { max: 64 }),
    'Headers of the answer that are copied into the request to the backend.',
  ),
  responseMetadata: optional(
    mapOf(celExpression(), { max: 64 }),
    'Values taken from the answer; later expressions read them as "extauthz".',
  ),
})

const cache = object({
  key: required(
    list(celExpression(), { min: 1, max: 16 }),
    'What identifies a decision; must cover every property of the request that the server looks at.',
  ),
  ttl: required(
    durationOrCel(),
    'How long a decision is kept: a duration such as "5m", or an expression yielding a duration or an expiry time.',
  ),
  maxEntries: defaulted(integer({ min: 1 }), 10_000, 'Decisions kept at most.'),
})

function checkCacheNeedsGrpc(
  spec: { readonly cache?: unknown; readonly grpc?: unknown },
  path: string,
): readonly ConfigProblem[] {
  if (spec.cache === undefined || spec.grpc !== undefined) return []
  return [problem(fieldPath(path, 'cache'), 'not-together', 'cache requires grpc')]
}

/** External authorization (specification 2, 2.2.6); used in `traffic` and in `backend`. */
export const extAuth = withRule(
  exactlyOne(
    ['grpc', 'http'],
    object({
      backendRef: required(backendObjectReference(), 'The authorization server: a Service or a ProxyBackend.'),
      failureMode: optional(
        enumOf('FailClosed', 'FailOpen'),
        'What happens when the server does not answer. FailClosed (the default) refuses the request, FailOpen lets it pass.',
      ),
      grpc: optional(grpc, 'Ask with the gRPC external authorization protocol.'),
      http: optional(http, 'Ask with an HTTP request; any status but 200 refuses.'),
      forwardBody: optional(
        object({ maxSize: required(byteSize(), 'Requests with a larger body are refused.') }),
        'Send the body of the request along; it is buffered.',
      ),
      cache: optional(cache, 'Remember decisions of a gRPC server.'),
    }),
  ),
  { reads: [], description: 'cache is for grpc only.', check: checkCacheNeedsGrpc },
)

export type ExtAuthSpec = Parsed<typeof extAuth>
