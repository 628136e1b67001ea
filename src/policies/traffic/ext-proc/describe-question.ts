import type { TracedGrpc } from '#exchange/trace.ts'
import { PROCESS_PATH, type ProcessingRequest } from './messages.ts'

const decoder = new TextDecoder()

/** The first message to the processor, for `explain`: headers by name, and bytes as text. @param bytes its size */
export function describeQuestion(
  { requestHeaders, requestBody, ...rest }: ProcessingRequest,
  bytes: number,
): TracedGrpc {
  const fields = (requestHeaders?.headers?.headers ?? []).map(
    ({ key, value, rawValue }) => [key, value ?? decoder.decode(rawValue)] as const,
  )
  const message = {
    ...(requestHeaders && { requestHeaders: { ...requestHeaders, headers: new Map(fields) } }),
    ...(requestBody && { requestBody: { ...requestBody, body: decoder.decode(requestBody.body) } }),
    ...rest,
  }
  return { protocol: 'grpc', path: PROCESS_PATH, message, bytes, secrets: [] }
}
