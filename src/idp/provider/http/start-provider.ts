import type { IncomingMessage, ServerResponse } from 'node:http'
import { hostPort } from '#base/host-port.ts'
import { listen } from '#base/listen.ts'
import { parseJson } from '#base/parse-json.ts'
import { IdpError } from '../idp-error.ts'
import { providerRoutes } from '../provider-routes.ts'
import type { ProviderState } from '../provider-state.ts'
import type { IdpReply, IdpRequest } from './idp-request.ts'
import { RouteTable } from './route-table.ts'

const { createServer } = process.getBuiltinModule('node:http')

const MAX_BODY_BYTES = 256 * 1024
/** How long a client may take to send a request. */
const REQUEST_TIMEOUT_MS = 30_000

export interface ProviderOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** The address that clients use; default: the Host of each request. */
  readonly publicUrl?: string | undefined
  readonly state: ProviderState
  readonly reportBug: (error: unknown) => void
}

export interface RunningProvider {
  readonly port: number
  readonly url: string
  close(): Promise<void>
}

/**
 * Starts the identity provider for development and tests. It is not for production.
 * @throws PortInUse
 */
export async function startProvider(options: ProviderOptions): Promise<RunningProvider> {
  const routes = new RouteTable(providerRoutes(options.state))
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    answer(options, routes, request)
      .catch((error: unknown) => replyTo(error, request, options))
      .then((reply) => write(response, reply))
      .catch((error: unknown) => {
        options.reportBug(error)
        response.destroy()
      })
  })
  const port = await listen(server, { host: options.host, port: options.port, purpose: 'identity provider' })
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { port, url: `http://${hostPort(options.host, port)}`, close }
}

async function answer({ publicUrl }: ProviderOptions, routes: RouteTable, request: IncomingMessage): Promise<IdpReply> {
  const { method = '', url = '/', headers } = request
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1))
  const found = routes.find(method === 'HEAD' ? 'GET' : method, path)
  const origin = publicUrl ?? originIn(headers.host)
  const body = await bodyOf(request)
  if (!('handler' in found)) {
    if (found.allow.length === 0)
      return { status: 404, json: { error: 'Unable to find matching target resource method' } }
    if (method === 'OPTIONS') return preflight(found.allow)
    return { status: 405, json: { error: 'HTTP 405 Method Not Allowed' }, headers: { allow: found.allow.join(', ') } }
  }
  const isJson = /^application\/json\b/i.test(headers['content-type'] ?? '')
  const asked: IdpRequest = {
    method,
    params: found.params,
    query,
    form: new URLSearchParams(isJson ? '' : body),
    json: isJson && body !== '' ? jsonIn(body) : undefined,
    authorization: headers.authorization,
    cookies: cookiesIn(headers.cookie),
    origin,
  }
  return found.handler(asked)
}

/** Scripts of any origin may ask for tokens: this is a provider for tests. They cannot read its pages. */
const CORS = { 'access-control-allow-origin': '*' }

function preflight(methods: readonly string[]): IdpReply {
  const allowed = {
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': 'authorization, content-type',
  }
  return { status: 204, headers: allowed }
}

/** Issuer and links have the Host of the request: it must be a host, and nothing else. @throws IdpError */
function originIn(host = ''): string {
  if (/^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host)) return `http://${host}`
  throw IdpError.oauth(400, 'invalid_request', 'the Host is not a host')
}

/** @throws IdpError */
async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  // The connection is still needed for the answer.
  for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > MAX_BODY_BYTES) {
      const headers = { connection: 'close' }
      throw IdpError.oauth(413, 'invalid_request', `the body is over ${MAX_BODY_BYTES} bytes`, headers)
    }
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

function jsonIn(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    throw IdpError.oauth(400, 'invalid_request', 'the body is not JSON')
  }
}

function cookiesIn(header = ''): Readonly<Record<string, string>> {
  const pairs = header.split(';').map((pair) => pair.trim().split('='))
  return Object.fromEntries(pairs.flatMap(([name, value]) => (name && value ? [[name, value]] : [])))
}

function replyTo(error: unknown, request: IncomingMessage, { reportBug }: ProviderOptions): IdpReply {
  if (error instanceof IdpError) return { status: error.status, json: error.body, headers: error.headers }
  // A client that leaves is no bug, and reads no answer.
  if (!request.destroyed || request.complete) reportBug(error)
  return { status: 500, json: { error: 'unknown_error' } }
}

const FIXED = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
}

/** Pages have no scripts. Where forms lead is not restricted: browsers would also block the redirect to the client after them. */
const PAGE = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
}

function write(response: ServerResponse, { status, json, html, headers = {} }: IdpReply): void {
  if (response.destroyed) return
  const text = html ?? (json === undefined ? '' : JSON.stringify(json))
  const type = html !== undefined ? PAGE : json === undefined ? {} : { 'content-type': 'application/json' }
  const length = { 'content-length': `${Buffer.byteLength(text)}` }
  response.writeHead(status, {
    ...FIXED,
    ...(html === undefined ? CORS : {}),
    ...type,
    ...length,
    ...(headers as Record<string, string | string[]>),
  })
  response.end(text)
}
