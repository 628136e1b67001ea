import type { Call, CallResponse } from '#exchange/call.ts'
import { failedCall } from '#exchange/failed-call.ts'
import { GRPC_REQUEST, readMessages } from '#exchange/grpc-answer.ts'
import type { OtlpTarget } from '#exchange/otlp-target.ts'
import { frameMessage } from '#net/grpc/message-frame.ts'
import { readAccepted, readGrpcError, readHttpError } from './export-answers.ts'
import type { ExportResult } from './export-queue.ts'

/** For a whole export, unless the policies of the destination say otherwise; the default of OpenTelemetry. */
const DEADLINE_MS = 10_000
/** Of a response of which more is not read. */
const MAX_RESPONSE_BYTES = 64 * 1024

const METHODS = {
  logs: '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
  traces: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
} as const

const NOTHING = new Uint8Array(0)

/** One export: an encoded request, and who sends it. */
export interface Export {
  readonly target: OtlpTarget
  readonly request: Uint8Array
  readonly userAgent: string
  readonly signal: AbortSignal
}

/** Sends one export. Rejects only for bugs. */
export async function exportOver(call: Call, what: Export): Promise<ExportResult> {
  try {
    return what.target.protocol === 'GRPC' ? await exportOverGrpc(call, what) : await exportOverHttp(call, what)
  } catch (error) {
    const failed = failedCall(error)
    if (failed === undefined) throw error
    return { kind: 'failed', cause: failed.text, retryAfterMs: undefined }
  }
}

async function exportOverGrpc(call: Call, { target, request, userAgent, signal }: Export): Promise<ExportResult> {
  const response = await call(target.backend, {
    ...GRPC_REQUEST,
    purpose: 'telemetry',
    path: METHODS[target.signal],
    headers: [['user-agent', userAgent]],
    body: frameMessage(request),
    defaultDeadlineMs: DEADLINE_MS,
    signal,
  })
  let answer: Uint8Array = NOTHING
  const failed = await readMessages(response, (message) => {
    answer = message
    return undefined
  })
  if (failed === undefined) return readAccepted(answer)
  const { failure, status, text } = failed
  if (failure === 'grpc-error') return readGrpcError(status!, text, detailsOf(response))
  // Without gRPC, the status of HTTP tells (gRPC over HTTP/2, "HTTP to gRPC status code mapping").
  return readHttpError(response.status, NOTHING, response.header('retry-after'))
}

function detailsOf(response: CallResponse): string | undefined {
  const name = 'grpc-status-details-bin'
  return response.trailer(name) ?? response.header(name)
}

async function exportOverHttp(call: Call, { target, request, userAgent, signal }: Export): Promise<ExportResult> {
  const response = await call(target.backend, {
    purpose: 'telemetry',
    method: 'POST',
    path: target.path,
    headers: [
      ['content-type', 'application/x-protobuf'],
      ['user-agent', userAgent],
    ],
    body: request,
    timeoutMs: 0,
    defaultDeadlineMs: DEADLINE_MS,
    signal,
  })
  const body = await collect(response)
  const { status } = response
  return status >= 200 && status < 300
    ? readAccepted(body)
    : readHttpError(status, body, response.header('retry-after'))
}

/** @returns nothing of a response that is too large */
async function collect({ body }: CallResponse): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body) {
    length += piece.length
    if (length > MAX_RESPONSE_BYTES) return NOTHING
    pieces.push(piece)
  }
  return Buffer.concat(pieces, length)
}
