import { parseByteSize } from '#base/byte-size.ts'
import { parseDuration } from '#base/duration.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import { reportNotImplemented } from '../../shared/not-implemented.ts'
import type { FrontendHttpSpec } from './schema.ts'

/** What incoming HTTP goes by (specification 2, 2.1). */
export interface FrontendHttpSetting {
  /** Most bytes of one body in memory. */
  readonly maxBufferBytes: number
  readonly maxHeaders: number
  /** From the end of a response to the first byte of the next head (decision A-44). */
  readonly idleTimeoutMs: number
  /** Age at which a connection ends with the request in hand; 0: none (decision A-46). */
  readonly maxConnectionMs: number
}

const DEFAULT: FrontendHttpSetting = {
  maxBufferBytes: 2_097_152,
  maxHeaders: 100,
  idleTimeoutMs: 600_000,
  maxConnectionMs: 0,
}

const WITHOUT_EFFECT = [
  'http2WindowSize',
  'http2ConnectionWindowSize',
  'http2FrameSize',
  'http2MaxHeaderSize',
  'http2KeepaliveInterval',
  'http2KeepaliveTimeout',
] as const

export function compileFrontendHttp(
  sources: readonly PolicySource<FrontendHttpSpec>[],
  context: CompileContext,
): FrontendHttpSetting {
  const source = sources[0]
  if (source === undefined) return DEFAULT
  const { spec } = source
  for (const field of WITHOUT_EFFECT) {
    if (spec[field] !== undefined) reportNotImplemented(context, source, `.${field}`, 'the setting has no effect')
  }
  return {
    maxBufferBytes: parseByteSize(spec.maxBufferSize ?? DEFAULT.maxBufferBytes) ?? DEFAULT.maxBufferBytes,
    maxHeaders: spec.http1MaxHeaders ?? DEFAULT.maxHeaders,
    idleTimeoutMs: parseDuration(spec.http1IdleTimeout ?? '') ?? DEFAULT.idleTimeoutMs,
    maxConnectionMs: parseDuration(spec.maxConnectionDuration ?? '') ?? DEFAULT.maxConnectionMs,
  }
}
