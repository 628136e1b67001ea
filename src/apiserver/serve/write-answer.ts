import { Buffer } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { stringify } from 'yaml'
import { runInSlices, type Steps } from '#base/in-slices.ts'
import type { ApiError } from '../http/api-error.ts'
import type { Form } from '../http/negotiate.ts'
import type { ApiAnswer } from '../verbs/resource-request.ts'
import type { ApiDocument } from './api-context.ts'

const CONTENT_TYPES = { json: 'application/json', yaml: 'application/yaml' } as const
/** Warnings of one answer, so that its head stays small (as on the platform). */
const MAX_WARNINGS_BYTES = 4096

/** Writes an object or a list as answer. */
export async function writeAnswer(
  response: ServerResponse,
  { status, body, warnings = [] }: ApiAnswer,
  encoding: Form['encoding'],
): Promise<void> {
  const text = encoding === 'yaml' ? stringify(body) : `${await runInSlices(jsonOf(body))}\n`
  if (warnings.length > 0) response.setHeader('warning', warningHeaders(warnings))
  response.writeHead(status, {
    'content-type': CONTENT_TYPES[encoding],
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-cache, private',
  })
  response.end(text)
}

/** Writes an error as `Status` object. */
export async function writeError(response: ServerResponse, error: ApiError, encoding: Form['encoding']): Promise<void> {
  // The answer had begun: only the end of the connection can say that it is not whole.
  if (response.headersSent) return void response.destroy()
  const { retryAfterSeconds } = error.details ?? {}
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', retryAfterSeconds)
  if (error.reason === 'Unauthorized') response.setHeader('www-authenticate', 'Bearer realm="gatewright"')
  await writeAnswer(response, { status: error.code, body: error.toStatus() }, encoding)
}

export function writeDocument(
  { headers }: IncomingMessage,
  response: ServerResponse,
  { contentType, body, etag }: ApiDocument,
): void {
  const tag = etag === undefined ? undefined : `"${etag}"`
  const fixed = { 'cache-control': 'no-cache, private', vary: 'Accept', ...(tag === undefined ? {} : { etag: tag }) }
  if (tag !== undefined && headers['if-none-match'] === tag) {
    response.writeHead(304, fixed)
    return void response.end()
  }
  response.writeHead(200, { ...fixed, 'content-type': contentType, 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

/** Members of a list that are written between two yields. */
const MEMBERS_AT_ONCE = 20

/** The JSON of an object. A list of thousands of objects takes long. */
export function* jsonOf(body: object): Steps<string> {
  const [name, members] = Object.entries(body).at(-1) ?? []
  // Lists and tables have their members last.
  if (!Array.isArray(members) || members.length <= MEMBERS_AT_ONCE) return JSON.stringify(body)
  const head = JSON.stringify({ ...body, [name!]: [] })
  const pieces: string[] = []
  for (let at = 0; at < members.length; at += MEMBERS_AT_ONCE) {
    pieces.push(JSON.stringify(members.slice(at, at + MEMBERS_AT_ONCE)).slice(1, -1))
    yield
  }
  return `${head.slice(0, -2)}${pieces.join()}]}`
}

/** Under an expression, it points to the position of an error. */
const POINTER_LINE = /\n *\^/

/** `299 - "text"` (RFC 7234, 5.5), each text once. */
function warningHeaders(texts: readonly string[]): string[] {
  const headers: string[] = []
  let bytes = 0
  for (const text of new Set(texts)) {
    const printable = text
      .replace(POINTER_LINE, '')
      .replace(/[^\x20-\x7e]+/g, ' ')
      .replace(/["\\]/g, '\\$&')
    bytes += printable.length
    if (bytes > MAX_WARNINGS_BYTES) break
    headers.push(`299 - "${printable}"`)
  }
  return headers
}
