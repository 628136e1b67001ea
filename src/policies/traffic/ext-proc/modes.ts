import {
  BODY_BUFFERED,
  BODY_BUFFERED_PARTIAL,
  BODY_FULL_DUPLEX_STREAMED,
  BODY_NONE,
  BODY_STREAMED,
  HEADER_SEND,
  HEADER_SKIP,
  type ProcessingMode,
} from './messages.ts'
import { DEFAULT_OPTIONS, type ExtProcSpec, type ProcessingOptions } from './schema.ts'

export type BodyMode = ProcessingOptions['requestBodyMode']

/** What the processor sees of one message. */
export interface MessageModes {
  readonly headers: boolean
  readonly body: BodyMode
  readonly trailers: boolean
}

export interface Modes {
  readonly request: MessageModes
  readonly response: MessageModes
}

export function modesOf({ processingOptions: options = DEFAULT_OPTIONS }: ExtProcSpec): Modes {
  return {
    request: {
      headers: options.requestHeaderMode === 'Send',
      body: options.requestBodyMode,
      trailers: options.requestTrailerMode === 'Send',
    },
    response: {
      headers: options.responseHeaderMode === 'Send',
      body: options.responseBodyMode,
      trailers: options.responseTrailerMode === 'Send',
    },
  }
}

/** Whether the processor gets no part of any message. It can override modes only in an answer. */
export function asksNothing({ request, response }: Modes): boolean {
  return [request, response].every(({ headers, body, trailers }) => !headers && body === 'None' && !trailers)
}

const BODY_MODES: Readonly<Record<number, BodyMode>> = {
  [BODY_NONE]: 'None',
  [BODY_STREAMED]: 'FullDuplexStreamed',
  [BODY_BUFFERED]: 'Buffered',
  [BODY_BUFFERED_PARTIAL]: 'BufferedPartial',
  [BODY_FULL_DUPLEX_STREAMED]: 'FullDuplexStreamed',
}

const BODY_NUMBERS: Readonly<Record<BodyMode, number>> = {
  None: BODY_NONE,
  Buffered: BODY_BUFFERED,
  BufferedPartial: BODY_BUFFERED_PARTIAL,
  FullDuplexStreamed: BODY_FULL_DUPLEX_STREAMED,
}

/** As the processor learns them at the beginning. */
export function protocolConfig({ request, response }: Modes) {
  return {
    requestBodyMode: BODY_NUMBERS[request.body],
    responseBodyMode: BODY_NUMBERS[response.body],
    sendBodyWithoutWaitingForHeaderResponse: request.body === 'FullDuplexStreamed',
  }
}

/**
 * The modes after the answer to the headers of `answered`, for what follows them. A body mode that the processor leaves out is None, because the
 * protocol does not distinguish the two.
 * @returns undefined if a mode is unknown
 */
export function overrideModes(modes: Modes, override: ProcessingMode, answered: keyof Modes): Modes | undefined {
  const request =
    answered === 'request'
      ? overridden(modes.request, undefined, override.requestBodyMode, override.requestTrailerMode)
      : modes.request
  const headers = answered === 'request' ? override.responseHeaderMode : undefined
  const response = overridden(modes.response, headers, override.responseBodyMode, override.responseTrailerMode)
  return request && response && { request, response }
}

function overridden(
  modes: MessageModes,
  headerMode: number | undefined,
  bodyMode = BODY_NONE,
  trailerMode: number | undefined,
): MessageModes | undefined {
  const body = BODY_MODES[bodyMode]
  const headers = sends(headerMode, modes.headers)
  const trailers = sends(trailerMode, modes.trailers)
  if (body === undefined || headers === undefined || trailers === undefined) return undefined
  return { headers, body, trailers }
}

function sends(mode: number | undefined, before: boolean): boolean | undefined {
  if (mode === undefined || mode === 0) return before
  return mode === HEADER_SEND ? true : mode === HEADER_SKIP ? false : undefined
}
