import { parseByteSize } from '#base/byte-size.ts'
import { parseDuration } from '#base/duration.ts'
import { DEFAULT_SERVER_LIMITS, type Http2Limits } from '#net/limits.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import type { FrontendHttpSpec } from './schema.ts'

/** Settings for HTTP from clients (specification 2, 2.1). */
export interface FrontendHttpSetting {
  /** Limit of a buffered body. */
  readonly maxBufferBytes: number
  readonly maxHeaders: number
  /** From the end of a response to the first byte of the next head (decision A-44). */
  readonly idleTimeoutMs: number
  /** Age at which a connection is closed after its current requests; 0: no limit (decision A-46). */
  readonly maxConnectionMs: number
  readonly http2: Http2Limits
}

const DEFAULT: FrontendHttpSetting = {
  maxBufferBytes: 2_097_152,
  maxHeaders: 100,
  idleTimeoutMs: 600_000,
  maxConnectionMs: 0,
  http2: DEFAULT_SERVER_LIMITS.http2,
}

export function compileFrontendHttp(
  sources: readonly PolicySource<FrontendHttpSpec>[],
  context: CompileContext,
): FrontendHttpSetting {
  const source = sources[0]
  if (source === undefined) return DEFAULT
  const { spec } = source
  if (spec.http2KeepaliveTimeout !== undefined && spec.http2KeepaliveInterval === undefined) {
    const message = 'has no effect: without http2KeepaliveInterval no PING frames are sent'
    context.report(source, '.http2KeepaliveTimeout', { severity: 'warning', code: 'no-effect', message })
  }
  return {
    maxBufferBytes: parseByteSize(spec.maxBufferSize ?? DEFAULT.maxBufferBytes) ?? DEFAULT.maxBufferBytes,
    maxHeaders: spec.http1MaxHeaders ?? DEFAULT.maxHeaders,
    idleTimeoutMs: parseDuration(spec.http1IdleTimeout ?? '') ?? DEFAULT.idleTimeoutMs,
    maxConnectionMs: parseDuration(spec.maxConnectionDuration ?? '') ?? DEFAULT.maxConnectionMs,
    http2: http2Limits(spec),
  }
}

function http2Limits(spec: FrontendHttpSpec): Http2Limits {
  const unset = DEFAULT.http2
  const bytes = (size: string | number | undefined, otherwise: number) => parseByteSize(size ?? otherwise) ?? otherwise
  const ms = (duration: string | undefined, otherwise: number) => parseDuration(duration ?? '') ?? otherwise
  return {
    ...unset,
    maxHeaderBytes: bytes(spec.http2MaxHeaderSize, unset.maxHeaderBytes),
    windowBytes: bytes(spec.http2WindowSize, unset.windowBytes),
    connectionWindowBytes: bytes(spec.http2ConnectionWindowSize, unset.connectionWindowBytes),
    maxFrameBytes: bytes(spec.http2FrameSize, unset.maxFrameBytes),
    keepaliveIntervalMs: ms(spec.http2KeepaliveInterval, unset.keepaliveIntervalMs),
    keepaliveTimeoutMs: ms(spec.http2KeepaliveTimeout, unset.keepaliveTimeoutMs),
  }
}
