import {
  backendObjectReference,
  celExpression,
  defaulted,
  described,
  enumOf,
  list,
  longString,
  object,
  optional,
  type Parsed,
  required,
  withRule,
} from '#schema/index.ts'
import { attributeAdd, logTracingAttributes } from '../../shared/transformation/attributes.ts'
import { checkOtlpPath, OTLP_PATH_ON_SERVER } from '../../shared/url/otlp-path.ts'

/** `frontend.tracing` (specification 2, 2.1). */
export const frontendTracing = described(
  'Tracing settings.',
  withRule(
    object({
      backendRef: required(backendObjectReference(), 'Service or ProxyBackend of the OTLP server.'),
      protocol: defaulted(enumOf('HTTP', 'GRPC'), 'GRPC', 'OTLP transport.'),
      path: optional(longString(), 'Request path, for protocol HTTP. When unset, /v1/traces.'),
      attributes: optional(logTracingAttributes, 'Attributes to add to or remove from spans.'),
      resources: optional(list(attributeAdd), 'OpenTelemetry resource attributes of the proxy.'),
      randomSampling: optional(
        celExpression(),
        'Sampling of requests without a trace context: true, false, or a ratio from 0.0 to 1.0. When unset, false.',
      ),
      clientSampling: optional(
        celExpression(),
        'Sampling of requests with a trace context: true, false, or a ratio from 0.0 to 1.0. When unset, true.',
      ),
    }),
    {
      reads: ['protocol', 'path'],
      description: 'path can only be set with protocol HTTP and must start with /.',
      check: checkOtlpPath,
      onServer: OTLP_PATH_ON_SERVER,
    },
  ),
)

export type TracingSpec = Parsed<typeof frontendTracing>
