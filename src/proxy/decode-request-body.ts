import type { Exchange } from '#exchange/exchange.ts'
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
  const body = newRequestBody ?? requestBody
  const coding = request.joined('content-encoding') ?? 'identity'
  if (body == null) return undefined
  if (coding.trim().toLowerCase() !== 'identity') {
    const content = await decodeContent(coding, body, maxBytes)
    if (content === 'unknown-coding') {
      return reject('content-coding-unsupported', {
        detail: `not one of ${CONTENT_CODINGS}`,
        headers: [['accept-encoding', CONTENT_CODINGS]],
      })
    }
    if (content === 'malformed') return reject('content-coding-invalid')
    if (content === 'too-large') return refuseLargeBody('body-too-large', maxBytes)
    if (newRequestBody === undefined) exchange.requestBody = content
    else exchange.newRequestBody = content
  }
  request.remove('content-encoding')
  return undefined
}
