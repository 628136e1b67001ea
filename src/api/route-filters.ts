import {
  atMostOne,
  boolean,
  type ConfigProblem,
  defaulted,
  duration,
  enumOf,
  fieldPath,
  formattedText,
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
import { settingsOfType } from './settings-of-type.ts'

const header = openObject({
  name: required(httpHeaderName(), 'Name of the header.'),
  value: required(text({ min: 1, max: 4096 }), 'Value of the header.'),
})

const headerFilter = openObject({
  set: optional(listMap('name', header, { max: 16 }), 'Headers to set. They replace existing values.'),
  add: optional(listMap('name', header, { max: 16 }), 'Headers to add to existing values.'),
  remove: optional(setOf(text(), { max: 16 }), 'Headers to remove.'),
})

const MODIFIERS = { ReplaceFullPath: 'replaceFullPath', ReplacePrefixMatch: 'replacePrefixMatch' }

const pathModifier = withRule(
  openObject({
    type: required(enumOf('ReplaceFullPath', 'ReplacePrefixMatch'), 'Part of the path to replace.'),
    replaceFullPath: optional(text({ max: 1024 }), 'New path.'),
    replacePrefixMatch: optional(text({ max: 1024 }), 'Replacement of the matched prefix.'),
  }),
  {
    reads: ['type'],
    description: 'A modifier must have the path of its type and no other.',
    check: settingsOfType(MODIFIERS, 'a modifier'),
  },
)

const fraction = withRule(
  openObject({
    numerator: required(integer({ min: 0 }), 'Numerator of the fraction.'),
    denominator: defaulted(integer({ min: 1 }), 100, 'Denominator of the fraction.'),
  }),
  {
    reads: ['numerator', 'denominator'],
    description: 'The numerator is not greater than the denominator.',
    check: ({ numerator, denominator }, path) =>
      numerator <= denominator
        ? []
        : [
            problem(
              fieldPath(path, 'numerator'),
              'inconsistent',
              `must not be greater than the denominator, ${denominator}`,
            ),
          ],
  },
)

const requestMirror = atMostOne(
  ['percent', 'fraction'],
  openObject({
    backendRef: required(openBackendReference, 'Backend that receives the copies.'),
    percent: optional(integer({ min: 0, max: 100 }), 'Percentage of the requests to copy. When unset, all of them.'),
    fraction: optional(fraction, 'Fraction of the requests to copy.'),
  }),
)

const requestRedirect = openObject({
  scheme: optional(enumOf('http', 'https'), 'New scheme.'),
  hostname: optional(hostname(), 'New hostname.'),
  path: optional(pathModifier, 'New path.'),
  port: optional(port(), 'New port.'),
  statusCode: defaulted(integer({ min: 300, max: 399 }), 302, 'Status code of the response.'),
})

const urlRewrite = openObject({
  hostname: optional(hostname(), 'New hostname.'),
  path: optional(pathModifier, 'New path.'),
})

const cors = openObject({
  allowOrigins: optional(list(text({ min: 1, max: 253 }), { max: 64 }), 'Origins that may read responses.'),
  allowCredentials: optional(boolean(), 'Whether requests may include credentials.'),
  allowMethods: optional(list(text(), { max: 16 }), 'Allowed methods.'),
  allowHeaders: optional(list(text({ min: 1, max: 256 }), { max: 64 }), 'Allowed request headers.'),
  exposeHeaders: optional(list(text({ min: 1, max: 256 }), { max: 64 }), 'Response headers that scripts may read.'),
  maxAge: defaulted(integer({ min: 1 }), 5, 'Seconds for which a browser may cache a preflight response.'),
})

/** A text that has only characters of a path (RFC 3986, 3.3). */
export const PATH_TEXT = /^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|%[0-9a-fA-F]{2})*$/

const pathPrefix = formattedText({ max: 1024 }, (value) =>
  PATH_TEXT.test(value)
    ? undefined
    : { code: 'invalid-path', message: 'must be a path such as "/verify", without a query' },
)

const authHeaders = setOf(text(), { max: 64 })

const externalAuth = withRule(
  openObject({
    protocol: required(enumOf('HTTP', 'GRPC'), 'Protocol of the authorization server.'),
    backendRef: required(openBackendReference, 'The authorization server.'),
    grpc: optional(
      openObject({ allowedHeaders: optional(authHeaders, 'Request headers to send. When unset, all of them.') }),
      'Settings for protocol GRPC.',
    ),
    http: optional(
      openObject({
        path: optional(pathPrefix, 'Prefix of the path of the authorization request.'),
        allowedHeaders: optional(authHeaders, 'Request headers to send besides "Authorization".'),
        allowedResponseHeaders: optional(
          authHeaders,
          'Response headers to copy to the backend request. When unset, all that do not describe the response itself.',
        ),
      }),
      'Settings for protocol HTTP.',
    ),
    forwardBody: optional(
      openObject({
        maxSize: defaulted(
          integer({ min: 0 }),
          0,
          'Maximum size of the body in bytes. Requests with a larger body are refused. 0: the body is not sent.',
        ),
      }),
      'Whether and how the request body is sent.',
    ),
  }),
  {
    reads: ['protocol', 'grpc', 'http'],
    description: 'protocol GRPC requires grpc and excludes http; protocol HTTP requires http and excludes grpc.',
    check: checkAuthProtocol,
  },
)

function checkAuthProtocol(
  filter: { readonly protocol: 'HTTP' | 'GRPC'; readonly grpc?: unknown; readonly http?: unknown },
  path: string,
): readonly ConfigProblem[] {
  const [own, other] = filter.protocol === 'GRPC' ? (['grpc', 'http'] as const) : (['http', 'grpc'] as const)
  const problems: ConfigProblem[] = []
  if (filter[own] === undefined) {
    problems.push(problem(fieldPath(path, own), 'required', `is required with protocol ${filter.protocol}`))
  }
  if (filter[other] !== undefined) {
    const message = `${other} cannot be set with protocol ${filter.protocol}`
    problems.push(problem(fieldPath(path, other), 'not-together', message))
  }
  return problems
}

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

const FILTER_RULE = {
  reads: ['type'] as const,
  description: 'A filter must have the settings of its type and no others.',
  check: settingsOfType(SETTINGS, 'a filter'),
}

const commonFilters = {
  type: required(text({ min: 1 }), 'Type of the filter.'),
  requestHeaderModifier: optional(headerFilter, 'Settings for type RequestHeaderModifier.'),
  responseHeaderModifier: optional(headerFilter, 'Settings for type ResponseHeaderModifier.'),
  requestMirror: optional(requestMirror, 'Settings for type RequestMirror.'),
  extensionRef: optional(typedLocalReference, 'Settings for type ExtensionRef.'),
}

/** Types of filters of an HTTPRoute. */
export const HTTP_FILTER_TYPES: readonly string[] = Object.keys(SETTINGS)

/** Types of filters of a GRPCRoute. */
export const GRPC_FILTER_TYPES: readonly string[] = Object.entries(SETTINGS)
  .filter(([, field]) => Object.hasOwn(commonFilters, field))
  .map(([type]) => type)

/** A filter of an HTTPRoute. */
export const httpRouteFilter = withRule(
  openObject({
    ...commonFilters,
    requestRedirect: optional(requestRedirect, 'Settings for type RequestRedirect.'),
    urlRewrite: optional(urlRewrite, 'Settings for type URLRewrite.'),
    cors: optional(cors, 'Settings for type CORS.'),
    externalAuth: optional(externalAuth, 'Settings for type ExternalAuth.'),
  }),
  FILTER_RULE,
)

/** A filter of a GRPCRoute. */
export const grpcRouteFilter = withRule(openObject(commonFilters), FILTER_RULE)

/** `timeouts` of a rule. */
export const routeTimeouts = openObject({
  request: optional(duration(), 'Timeout for the whole request. 0s disables it.'),
  backendRequest: optional(duration(), 'Timeout for one attempt at the backend. 0s disables it.'),
})

/** `retry` of a rule. */
export const routeRetry = openObject({
  codes: optional(list(integer({ min: 400, max: 599 })), 'Response status codes to retry.'),
  attempts: optional(integer(), 'Maximum number of retries.'),
  backoff: optional(duration(), 'Minimum time between two attempts.'),
})

export type HttpRouteFilterSpec = Parsed<typeof httpRouteFilter>
export type GrpcRouteFilterSpec = Parsed<typeof grpcRouteFilter>
export type PathModifierSpec = Parsed<typeof pathModifier>
