import {
  backendObjectReference,
  celExpression,
  defaulted,
  described,
  enumOf,
  longString,
  object,
  optional,
  type Parsed,
  required,
  withRule,
} from '#schema/index.ts'
import { logTracingAttributes } from '../../shared/transformation/attributes.ts'
import { checkOtlpPath, OTLP_PATH_ON_SERVER } from '../../shared/url/otlp-path.ts'

const otlpAccessLog = withRule(
  object({
    backendRef: required(backendObjectReference(), 'Service or ProxyBackend of the OTLP server.'),
    protocol: defaulted(enumOf('HTTP', 'GRPC'), 'GRPC', 'OTLP transport.'),
    path: optional(longString(), 'Request path, for protocol HTTP. When unset, /v1/logs.'),
  }),
  {
    reads: ['protocol', 'path'],
    description: 'path can only be set with protocol HTTP and must start with /.',
    check: checkOtlpPath,
    onServer: OTLP_PATH_ON_SERVER,
  },
)

/** `frontend.accessLog` (specification 2, 2.1). */
export const frontendAccessLog = described(
  'Access log settings.',
  object({
    filter: optional(
      celExpression(),
      'CEL expression that selects the requests to log. When unset, all requests are logged.',
    ),
    attributes: optional(logTracingAttributes, 'Attributes to add to or remove from log entries.'),
    otlp: optional(otlpAccessLog, 'Also export log entries to an OTLP server.'),
  }),
)

export type OtlpAccessLogSpec = Parsed<typeof otlpAccessLog>
export type AccessLogSpec = Parsed<typeof frontendAccessLog>
