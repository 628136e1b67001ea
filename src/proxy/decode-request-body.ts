import type { Exchange } from '#exchange/exchange.ts'
import { wholeBody } from '#exchange/known-body.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { refuseLargeBody } from '#exchange/refuse-large-body.ts'
import { CONTENT_CODINGS, decodeContent } from '#net/body/decode-content.ts'

/**
 * Replaces the buffered body of a request by its content, and removes `content-encoding`.
 * @param maxBytes limit of the content
 * @returns the refusal for the client if the body cannot be decoded
 */
export async function decodeRequestBody(exchange: Exchange, maxBytes: number): Promise<Refusal | undefined> {
  const { request, newRequestBody, requestBody } = exchange
  const body = newRequestBody ?? requestBody.whole
  if (body === undefined) return undefined
  const content = await contentOf(exchange, body, maxBytes)
  if (!(content instanceof Uint8Array)) return content
  if (newRequestBody === undefined) exchange.requestBody = wholeBody(content)
  else exchange.newRequestBody = content
  request.remove('content-encoding')
  return undefined
}

/**
 * The content of a body of the request.
 * @param maxBytes limit of the content
 * @returns the body itself if it has no coding; the refusal for the client if it cannot be decoded
 */
export async function contentOf(
  { request }: Exchange,
  body: Uint8Array,
  maxBytes: number,
): Promise<Uint8Array | Refusal> {
  const coding = request.joined('content-encoding') ?? 'identity'
  if (coding.trim().toLowerCase() === 'identity') return body
  const content = await decodeContent(coding, body, maxBytes)
  if (content === 'unknown-coding') {
    return reject('content-coding-unsupported', {
      detail: `not one of ${CONTENT_CODINGS}`,
      headers: [['accept-encoding', CONTENT_CODINGS]],
    })
  }
  if (content === 'malformed') return reject('content-coding-invalid')
  return content === 'too-large' ? refuseLargeBody('body-too-large', maxBytes) : content
}
