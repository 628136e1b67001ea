import {
  backendObjectReference,
  boolean,
  defaulted,
  described,
  enumOf,
  object,
  optional,
  type Parsed,
  required,
  validate,
} from '#schema/index.ts'
import { orConditional } from '../../shared/conditional.ts'

const bodyMode = (direction: string) =>
  defaulted(
    enumOf('None', 'Buffered', 'BufferedPartial', 'FullDuplexStreamed'),
    'FullDuplexStreamed',
    `How to send the ${direction} body. None: not at all. Buffered: the whole body, at most 8 KB. ` +
      'BufferedPartial: the first 8 KB. FullDuplexStreamed: as a stream.',
  )

const sendMode = (what: string) => defaulted(enumOf('Send', 'Skip'), 'Send', `Whether to send ${what}.`)

const processingOptions = object({
  requestBodyMode: bodyMode('request'),
  responseBodyMode: bodyMode('response'),
  requestHeaderMode: sendMode('request headers'),
  responseHeaderMode: sendMode('response headers'),
  requestTrailerMode: sendMode('request trailers'),
  responseTrailerMode: sendMode('response trailers'),
  allowModeOverride: defaulted(
    boolean(),
    false,
    'Whether the server may change these modes in its responses to headers.',
  ),
})

const extProc = object({
  backendRef: required(backendObjectReference(), 'Service or ProxyBackend of the processing server.'),
  processingOptions: optional(processingOptions, 'Which parts of requests and responses to send to the server.'),
})

/** The options of a policy without any. */
export const DEFAULT_OPTIONS = validate(processingOptions, {}).value!

/** `traffic.extProc` (specification 2, 2.2.7). */
export const trafficExtProc = described('External processing by a gRPC server.', orConditional(extProc))

export type ProcessingOptions = Parsed<typeof processingOptions>
export type ExtProcSpec = Parsed<typeof extProc>
export type ExtProcSection = Parsed<typeof trafficExtProc>
