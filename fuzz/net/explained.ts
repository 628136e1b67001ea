/**
 * Known reasons why node:http refuses raw bytes that the gateway accepts. Forwarded bytes must always be accepted. Any other reason is a
 * disagreement.
 */
export const EXPLAINED: ReadonlyMap<string, string> = new Map([
  [
    'HPE_UNEXPECTED_CONTENT_LENGTH',
    'the same length twice; we send it once (RFC 9112, 6.3). Also a length among trailers',
  ],
  ['HPE_INVALID_CONTENT_LENGTH', 'a length among trailers, which we drop'],
  ['HPE_INVALID_TRANSFER_ENCODING', 'a coding among trailers, which we drop'],
  ['HPE_CLOSED_CONNECTION', '`Connection: close` among trailers, which we drop'],
])
