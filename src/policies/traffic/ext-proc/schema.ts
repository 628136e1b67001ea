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
} from '#schema/index.ts'
import { orConditional } from '../../shared/conditional.ts'

const bodyMode = (direction: string) =>
  defaulted(
    enumOf('None', 'Buffered', 'BufferedPartial', 'FullDuplexStreamed'),
    'FullDuplexStreamed',
    `How the ${direction} body is sent. None: not at all. Buffered: whole, at most 8 KB. ` +
      'BufferedPartial: its first 8 KB. FullDuplexStreamed: piece by piece.',
  )

const sendMode = (what: string) => defaulted(enumOf('Send', 'Skip'), 'Send', `Whether ${what} are sent.`)

const extProc = object({
  backendRef: required(backendObjectReference(), 'The processing server: a Service or a ProxyBackend.'),
  processingOptions: optional(
    object({
      requestBodyMode: bodyMode('request'),
      responseBodyMode: bodyMode('response'),
      requestHeaderMode: sendMode('request headers'),
      responseHeaderMode: sendMode('response headers'),
      requestTrailerMode: sendMode('request trailers'),
      responseTrailerMode: sendMode('response trailers'),
      allowModeOverride: defaulted(
        boolean(),
        false,
        'Whether the server may change these modes in its header answers.',
      ),
    }),
    'What is sent to the server.',
  ),
})

/** `traffic.extProc` (specification 2, 2.2.7). */
export const trafficExtProc = described('Processing by an external server.', orConditional(extProc))

export type ExtProcSpec = Parsed<typeof extProc>
export type ExtProcSection = Parsed<typeof trafficExtProc>
