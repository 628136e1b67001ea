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
import { attributeAdd, logTracingAttributes } from '../../shared/attributes.ts'
import { checkOtlpPath } from '../../shared/otlp-path.ts'

/** `frontend.tracing` (specification 2, 2.1). */
export const frontendTracing = described(
  'Traces.',
  withRule(
    object({
      backendRef: required(backendObjectReference(), 'The OTLP server: a Service or a ProxyBackend.'),
      protocol: defaulted(enumOf('HTTP', 'GRPC'), 'GRPC', 'Transport of the export.'),
      path: optional(longString(), 'Path of the export, with protocol HTTP; /v1/traces when unset.'),
      attributes: optional(logTracingAttributes, 'Changes to the attributes of a span.'),
      resources: optional(list(attributeAdd), 'Attributes that describe the proxy itself.'),
      randomSampling: optional(
        celExpression(),
        'For requests without a trace: whether to start one, as true or false or a share from 0.0 to 1.0. Never when unset.',
      ),
      clientSampling: optional(
        celExpression(),
        'For requests that bring a trace: whether to add a span, as true or false or a share from 0.0 to 1.0. Always when unset.',
      ),
    }),
    {
      reads: ['protocol', 'path'],
      description: 'path is only for protocol HTTP and starts with /.',
      check: checkOtlpPath,
    },
  ),
)

export type TracingSpec = Parsed<typeof frontendTracing>
