import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2'
import { clock } from '#base/clock.ts'
import { FrameReader, frameMessage } from '#net/grpc/message-frame.ts'
import { grpcStatusName } from '#net/grpc/status-fields.ts'
import { readAccepted, readGrpcError, readHttpError } from './export-answers.ts'
import type { ExportResult } from './export-queue.ts'

/** Where the gateway sends its metrics. */
export interface MetricsDestination {
  /** With the path for HTTP; gRPC has a path of its own. */
  readonly url: URL
  readonly protocol: 'grpc' | 'http/protobuf'
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** For a whole export. */
  readonly timeoutMs: number
}

const GRPC_PATH = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export'
/** Of a response of which more is not read. */
const MAX_RESPONSE_BYTES = 64 * 1024
const NOTHING = new Uint8Array(0)

/**
 * Sends one export from the main thread. Its server is a setting of the process and no object, so no policies apply. Never rejects.
 * @param request an encoded `ExportMetricsServiceRequest`
 */
export async function sendMetrics(
  destination: MetricsDestination,
  request: Uint8Array,
  userAgent: string,
): Promise<ExportResult> {
  const late = new AbortController()
  const limit = clock.after(destination.timeoutMs, () => late.abort())
  const send = destination.protocol === 'grpc' ? sendOverGrpc : sendOverHttp
  try {
    return await send(destination, request, userAgent, late.signal)
  } catch (error) {
    const cause = late.signal.aborted ? `no answer within ${destination.timeoutMs} ms` : causeOf(error as Error)
    return { kind: 'failed', cause, retryAfterMs: undefined }
  } finally {
    limit.cancel()
  }
}

/** `fetch` tells only in the cause of its error what happened. */
function causeOf({ message, cause }: Error): string {
  return cause instanceof Error ? cause.message : message
}

async function sendOverHttp(
  { url, headers }: MetricsDestination,
  request: Uint8Array,
  userAgent: string,
  signal: AbortSignal,
): Promise<ExportResult> {
  const response = await fetch(url, {
    method: 'POST',
    headers: [
      ...headers.map(([name, value]): [string, string] => [name, value]),
      ...fieldsOf('application/x-protobuf', userAgent),
    ],
    body: Buffer.from(request),
    redirect: 'manual',
    signal,
  })
  const body = await firstBytes(response)
  if (response.ok) return readAccepted(body)
  return readHttpError(response.status, body, response.headers.get('retry-after') ?? undefined)
}

function fieldsOf(contentType: string, userAgent: string): [string, string][] {
  return [
    ['content-type', contentType],
    ['user-agent', userAgent],
  ]
}

async function firstBytes({ body }: Response): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body ?? []) {
    pieces.push(piece)
    length += piece.length
    if (length > MAX_RESPONSE_BYTES) return NOTHING
  }
  return Buffer.concat(pieces)
}

/** One connection for each export: they are rare. */
async function sendOverGrpc(
  { url, headers }: MetricsDestination,
  request: Uint8Array,
  userAgent: string,
  signal: AbortSignal,
): Promise<ExportResult> {
  const { connect } = process.getBuiltinModule('node:http2')
  const session = connect(url.origin)
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {})
  session.on('error', failed.reject)
  session.on('close', () => failed.reject(new Error('the server closed the connection')))
  signal.addEventListener('abort', () => failed.reject(new Error('aborted')), { once: true })
  try {
    const fields = Object.fromEntries([...headers, ...fieldsOf('application/grpc', userAgent), ['te', 'trailers']])
    return await Promise.race([failed.promise, exchange(session, fields, request)])
  } finally {
    session.destroy()
  }
}

async function exchange(
  session: ClientHttp2Session,
  fields: Record<string, string>,
  request: Uint8Array,
): Promise<ExportResult> {
  const stream = session.request({ ':method': 'POST', ':path': GRPC_PATH, ...fields })
  let head: IncomingHttpHeaders & { readonly ':status'?: number | undefined } = {}
  let trailers: IncomingHttpHeaders = {}
  stream.on('response', (received) => {
    head = received
  })
  stream.on('trailers', (received) => {
    trailers = received
  })
  stream.end(frameMessage(request))
  const frames = new FrameReader(MAX_RESPONSE_BYTES)
  for await (const piece of stream) frames.push(piece as Buffer)
  const status = trailers['grpc-status'] ?? head['grpc-status']
  if (status === undefined) return readHttpError(Number(head[':status'] ?? 0), NOTHING, head['retry-after'])
  if (status === '0') return readAccepted(frames.next() ?? NOTHING)
  const name = grpcStatusName(`${status}`)
  const text = trailers['grpc-message'] ?? head['grpc-message']
  const details = trailers['grpc-status-details-bin'] ?? head['grpc-status-details-bin']
  return readGrpcError(name, text === undefined ? name : `${name}: ${text}`, details?.toString())
}
