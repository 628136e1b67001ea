import {
  boolean,
  type ConfigProblem,
  defaulted,
  duration,
  enumOf,
  fieldPath,
  httpHeaderName,
  integer,
  list,
  listMap,
  openObject,
  optional,
  type Parsed,
  port,
  problem,
  required,
  setOf,
  text,
  withRule,
} from '#schema/index.ts'
import { hostname, openBackendReference, typedLocalReference } from './platform-fields.ts'

const header = openObject({
  name: required(httpHeaderName(), 'Name of the header.'),
  value: required(text({ min: 1, max: 4096 }), 'Its value.'),
})

const headerFilter = openObject({
  set: optional(listMap('name', header, { max: 16 }), 'Headers to set.'),
  add: optional(listMap('name', header, { max: 16 }), 'Headers to add.'),
  remove: optional(setOf(text(), { max: 16 }), 'Headers to remove.'),
})

const pathModifier = openObject({
  type: required(enumOf('ReplaceFullPath', 'ReplacePrefixMatch'), 'What is replaced.'),
  replaceFullPath: optional(text({ max: 1024 }), 'The new path.'),
  replacePrefixMatch: optional(text({ max: 1024 }), 'What comes in place of the matched prefix.'),
})

const requestMirror = openObject({
  backendRef: required(openBackendReference, 'Where the copies go.'),
  percent: optional(integer({ min: 0, max: 100 }), 'Share of the requests that is copied.'),
  fraction: optional(
    openObject({
      numerator: required(integer({ min: 0 }), 'Upper part of the share.'),
      denominator: defaulted(integer({ min: 1 }), 100, 'Lower part of the share.'),
    }),
    'Share of the requests that is copied.',
  ),
})

const requestRedirect = openObject({
  scheme: optional(enumOf('http', 'https'), 'New scheme.'),
  hostname: optional(hostname(), 'New hostname.'),
  path: optional(pathModifier, 'New path.'),
  port: optional(port(), 'New port.'),
  statusCode: defaulted(integer({ min: 300, max: 399 }), 302, 'Status of the answer.'),
})

const urlRewrite = openObject({
  hostname: optional(hostname(), 'New hostname.'),
  path: optional(pathModifier, 'New path.'),
})

const cors = openObject({
  allowOrigins: optional(list(text({ min: 1, max: 253 }), { max: 64 }), 'Origins that may read answers.'),
  allowCredentials: optional(boolean(), 'Whether requests may carry credentials.'),
  allowMethods: optional(list(text(), { max: 16 }), 'Methods allowed.'),
  allowHeaders: optional(list(text({ min: 1, max: 256 }), { max: 64 }), 'Request headers allowed.'),
  exposeHeaders: optional(list(text({ min: 1, max: 256 }), { max: 64 }), 'Answer headers that scripts may read.'),
  maxAge: defaulted(integer({ min: 1 }), 5, 'Seconds for which a preflight may be remembered.'),
})

const externalAuth = openObject({
  protocol: required(enumOf('HTTP', 'GRPC'), 'Protocol of the server.'),
  backendRef: required(openBackendReference, 'The authorization server.'),
  grpc: optional(
    openObject({ allowedHeaders: optional(list(text(), { max: 64 }), 'Request headers sent.') }),
    'For protocol GRPC.',
  ),
  http: optional(
    openObject({
      path: optional(text(), 'Prefix of the path asked for.'),
      allowedHeaders: optional(list(text(), { max: 64 }), 'Request headers sent.'),
      allowedResponseHeaders: optional(list(text(), { max: 64 }), 'Answer headers copied to the backend request.'),
    }),
    'For protocol HTTP.',
  ),
  forwardBody: optional(
    openObject({ maxSize: optional(integer({ min: 0 }), 'Bytes of the body sent.') }),
    'Send the body.',
  ),
})

const SETTINGS = {
  RequestHeaderModifier: 'requestHeaderModifier',
  ResponseHeaderModifier: 'responseHeaderModifier',
  RequestMirror: 'requestMirror',
  RequestRedirect: 'requestRedirect',
  URLRewrite: 'urlRewrite',
  CORS: 'cors',
  ExternalAuth: 'externalAuth',
  ExtensionRef: 'extensionRef',
} as const

/** A filter carries the settings of its type and no others. */
function checkFilter(
  filter: { readonly type: string } & Readonly<Record<string, unknown>>,
  path: string,
): readonly ConfigProblem[] {
  const own = Object.hasOwn(SETTINGS, filter.type) ? SETTINGS[filter.type as keyof typeof SETTINGS] : undefined
  if (own === undefined) return []
  const found = Object.values(SETTINGS)
    .filter((field) => field !== own && filter[field] !== undefined)
    .map((field) =>
      problem(fieldPath(path, field), 'not-together', `${field} is not for a filter of type ${filter.type}`),
    )
  if (filter[own] !== undefined) return found
  return [problem(fieldPath(path, own), 'required', `is required for a filter of type ${filter.type}`), ...found]
}

const FILTER_RULE = {
  reads: ['type'] as const,
  description: 'A filter has the settings of its type.',
  check: checkFilter,
}

const commonFilters = {
  type: required(text({ min: 1 }), 'Type of the filter.'),
  requestHeaderModifier: optional(headerFilter, 'For RequestHeaderModifier.'),
  responseHeaderModifier: optional(headerFilter, 'For ResponseHeaderModifier.'),
  requestMirror: optional(requestMirror, 'For RequestMirror.'),
  extensionRef: optional(typedLocalReference, 'For ExtensionRef.'),
}

/** A filter of an HTTPRoute. */
export const httpRouteFilter = withRule(
  openObject({
    ...commonFilters,
    requestRedirect: optional(requestRedirect, 'For RequestRedirect.'),
    urlRewrite: optional(urlRewrite, 'For URLRewrite.'),
    cors: optional(cors, 'For CORS.'),
    externalAuth: optional(externalAuth, 'For ExternalAuth.'),
  }),
  FILTER_RULE,
)

/** A filter of a GRPCRoute. */
export const grpcRouteFilter = withRule(openObject(commonFilters), FILTER_RULE)

/** `timeouts` of a rule. */
export const routeTimeouts = openObject({
  request: optional(duration(), 'Time for the whole request; 0s is no limit.'),
  backendRequest: optional(duration(), 'Time for one attempt at the backend; 0s is no limit.'),
})

/** `retry` of a rule. */
export const routeRetry = openObject({
  codes: optional(list(integer({ min: 400, max: 599 })), 'Statuses after which a request is sent again.'),
  attempts: optional(integer(), 'How often a request is sent again at most.'),
  backoff: optional(duration(), 'Least time between two attempts.'),
})

export type HttpRouteFilterSpec = Parsed<typeof httpRouteFilter>
export type GrpcRouteFilterSpec = Parsed<typeof grpcRouteFilter>
export type PathModifierSpec = Parsed<typeof pathModifier>
