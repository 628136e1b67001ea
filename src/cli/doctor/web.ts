import { parseJson } from '#base/parse-json.ts'

/** For one request. */
const TIMEOUT_MS = 15_000
const MAX_BYTES = 4 * 1024 * 1024

export interface WebRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** A complete response. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Undefined: the body is not JSON. */
  readonly json: unknown
}

/** No response came. */
export class NoReply {
  readonly why: string
  /** What to change. */
  readonly change: string

  constructor(why: string, change: string) {
    this.why = why
    this.change = change
  }
}

/** Sends a request as a client of MCP would; redirects are not followed. */
export async function ask(
  url: string | URL,
  { method = 'GET', headers = {}, body }: WebRequest = {},
): Promise<Reply | NoReply> {
  const address = URL.parse(url)
  if (address === null || !isHttp(address)) {
    return new NoReply(`${String(url)} is no http or https address`, 'Correct the address where it is announced.')
  }
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  try {
    const init = { method, headers, signal, redirect: 'manual' as const, ...(body !== undefined && { body }) }
    const response = await fetch(address, init)
    const text = await readText(response)
    return { status: response.status, headers: response.headers, text, json: jsonOf(text) }
  } catch (error) {
    return describe(error, address)
  }
}

export function isHttp({ protocol }: URL): boolean {
  return protocol === 'http:' || protocol === 'https:'
}

/** A stream is read up to its first message that answers a request: it may stay open. */
async function readText(response: Response): Promise<string> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of response.body ?? []) {
    text += decoder.decode(piece as Uint8Array, { stream: true })
    if (text.length > MAX_BYTES || (isStream && answerIn(text) !== undefined)) break
  }
  return text
}

/** The first answer in an event stream, as an object. */
export function answerIn(text: string): unknown {
  for (const event of text.split(/\r?\n\r?\n/).slice(0, -1)) {
    const data = event
      .split(/\r?\n/)
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice('data:'.length).trimStart())
      .join('\n')
    const message = jsonOf(data)
    if (isObject(message) && ('result' in message || 'error' in message)) return message
  }
  return undefined
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Codes of errors, with their meaning and what to change. */
const FAULTS: readonly (readonly [code: RegExp, why: string, change: string])[] = [
  [/ECONNREFUSED/, 'nothing listens there', 'Check host and port, and that the server runs.'],
  [/ENOTFOUND|EAI_AGAIN/, 'the name does not resolve', 'Check the host, and its record in DNS.'],
  [
    /TimeoutError|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT/,
    'no answer in time',
    'Check that nothing between drops packets, and that the server answers.',
  ],
  [
    /SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)|DEPTH_ZERO/,
    'its certificate is not of an authority that clients know',
    'Use a certificate of a public authority; to examine the rest, set NODE_EXTRA_CA_CERTS to the certificate of yours.',
  ],
  [/CERT_HAS_EXPIRED/, 'its certificate has expired', 'Renew the certificate.'],
  [/ERR_TLS_CERT_ALTNAME_INVALID/, 'its certificate is for another host', 'Use a certificate with this host.'],
  [/WRONG_VERSION_NUMBER|PACKET_LENGTH/, 'it does not speak TLS', 'Use http, or configure TLS for this port.'],
  [
    /ECONNRESET|UND_ERR_SOCKET/,
    'it closed the connection',
    'See the log of the server; a port with TLS closes requests without it.',
  ],
]

function describe(error: unknown, { origin }: URL): NoReply {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  const { code = '', name = '', message = '' } = cause as { code?: string; name?: string; message?: string }
  const known = FAULTS.find(([pattern]) => pattern.test(code) || pattern.test(name))
  if (known !== undefined) return new NoReply(`${origin}: ${known[1]}`, known[2])
  return new NoReply(`${origin}: ${code || message || name}`, 'See the log of the server.')
}

/** What a server says about its refusal, in the form of OAuth, or of JSON-RPC. */
export function explanationIn({ json }: Reply): string {
  if (!isObject(json)) return ''
  const { error, error_description: description } = json
  if (isObject(error)) return `: ${String(error.message)}`
  const said = [error, description].filter((text) => typeof text === 'string' && text !== '')
  return said.length === 0 ? '' : `: ${said.join(', ')}`
}
