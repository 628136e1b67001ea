/**
 * Request fields that are lists (RFC 9110, 5.6.1) or that every recipient joins: several lines mean the same as one. Of RFC 9110, 9111 and 9113
 * (`cookie`), and of the specifications of the others.
 */
const LIST_FIELDS: ReadonlySet<string> = new Set([
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'access-control-request-headers',
  'baggage',
  'cache-control',
  'connection',
  'content-encoding',
  'content-language',
  'cookie',
  'expect',
  'forwarded',
  'if-match',
  'if-none-match',
  'keep-alive',
  'link',
  'pragma',
  'prefer',
  'priority',
  'sec-websocket-extensions',
  'sec-websocket-protocol',
  'te',
  'tracestate',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
  'warning',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
])

export function isListField(lowerName: string): boolean {
  return LIST_FIELDS.has(lowerName)
}
