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
import { logTracingAttributes } from '../../shared/attributes.ts'
import { checkOtlpPath } from '../../shared/otlp-path.ts'

const otlpAccessLog = withRule(
  object({
    backendRef: required(backendObjectReference(), 'The OTLP server: a Service or a ProxyBackend.'),
    protocol: defaulted(enumOf('HTTP', 'GRPC'), 'GRPC', 'Transport of the export.'),
    path: optional(longString(), 'Path of the export, with protocol HTTP; /v1/logs when unset.'),
  }),
  {
    reads: ['protocol', 'path'],
    description: 'path is only for protocol HTTP and starts with /.',
    check: checkOtlpPath,
  },
)

/** `frontend.accessLog` (specification 2, 2.1). */
export const frontendAccessLog = described(
  'Access log.',
  object({
    filter: optional(celExpression(), 'A request is logged only when this is true; every request when unset.'),
    attributes: optional(logTracingAttributes, 'Changes to the attributes of a line.'),
    otlp: optional(otlpAccessLog, 'Send the lines to an OTLP server as well.'),
  }),
)

export type OtlpAccessLogSpec = Parsed<typeof otlpAccessLog>
export type AccessLogSpec = Parsed<typeof frontendAccessLog>
