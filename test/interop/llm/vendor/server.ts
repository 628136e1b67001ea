import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { withoutForm } from '../form-scenarios.ts'
import { judge } from '../guards.ts'
import { ERROR_MESSAGE, REFUSED, RETRY_AFTER, replyTo } from '../replies.ts'
import { OWN_MODEL } from '../upstreams.ts'
import { Body } from './body.ts'
import { completions } from './completions.ts'
import { converse } from './converse.ts'
import { embeddingsAt } from './embeddings.ts'
import { generateContent } from './generate-content.ts'
import { messages } from './messages.ts'
import { acceptRealtime } from './realtime.ts'
import { responses, STORED } from './responses.ts'
import type { Vendor } from './vendor.ts'

/** Servers of vendors, all on one port. */
export interface VendorServer extends AsyncDisposable {
  readonly port: number
}

/** By the end of the path. */
const APIS: readonly (readonly [path: RegExp, vendor: Vendor])[] = [
  [/\/chat\/completions$/, completions],
  [/\/responses$/, responses],
  [/\/messages$|:(rawPredict|streamRawPredict)$/, messages],
  [/\/converse(-stream)?$/, converse],
  [/:(generateContent|streamGenerateContent)$/, generateContent],
]

/** Runs that were refused once. */
const retried = new Set<string>()

/** Bodies of requests that the vendor counts. */
const COUNTED = /\/messages\/count_tokens$|\/count-tokens(:rawPredict)?$/

/** Questions of guards. */
const JUDGED = /^\/(request|response)$/

/**
 * Starts a server that speaks every API. The header `x-scenario` says how it answers. `GET /left/<run>` answers when the request with that
 * `x-run` has lost its client.
 */
export async function startVendors(): Promise<VendorServer> {
  const left = new Map<string, PromiseWithResolvers<void>>()
  const leaving = (run: string) => {
    const known = left.get(run) ?? Promise.withResolvers<void>()
    left.set(run, known)
    return known
  }
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent((request.url ?? '').split('?')[0]!)
    response.on('error', () => {})
    if (path.startsWith('/left/')) {
      await Promise.race([leaving(path.slice(6)).promise, setTimeout(5_000, undefined, { ref: false })])
      response.end(JSON.stringify(left.has(path.slice(6))))
      return
    }
    const run = request.headers['x-run']
    if (typeof run === 'string') response.once('close', () => response.writableEnded || leaving(run).resolve())
    const bytes = await bodyOf(request)
    if (JUDGED.test(path)) return sendJson(response, ...judge(bytes.toString()))
    await answer(request, path, bytes, response)
  })
  server.on('upgrade', acceptRealtime)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

async function answer(request: IncomingMessage, path: string, bytes: Buffer, response: ServerResponse): Promise<void> {
  const { name: scenario, isOther } = withoutForm(String(request.headers['x-scenario'] ?? ''))
  if (request.method === 'GET') return answerGet(path, 'anthropic-version' in request.headers, response)
  const body = new Body(parsed(bytes))
  const vendor = APIS.find(([ending]) => ending.test(path))?.[1]
  if (COUNTED.test(path))
    return sendJson(response, 200, /count-tokens$/.test(path) ? { inputTokens: 42 } : { input_tokens: 42 })
  if (vendor === undefined) {
    const embedded = embeddingsAt(path, body)
    return sendJson(
      response,
      embedded === undefined ? 404 : 200,
      embedded ?? completions.error(404, `no API at ${path}`),
      // Where the body has no counts.
      path.endsWith('/invoke') ? { 'x-amzn-bedrock-input-token-count': '3' } : {},
    )
  }
  if (scenario === 'retried' && !retried.has(String(request.headers['x-run']))) {
    retried.add(String(request.headers['x-run']))
    return sendJson(response, 529, vendor.error(529, ERROR_MESSAGE), {
      ...vendor.errorHeaders?.(529),
      'retry-after-ms': '5',
    })
  }
  const status = REFUSED.find((one) => scenario === String(one))
  if (status !== undefined) {
    const retry = status === 429 ? { 'retry-after': RETRY_AFTER } : {}
    return sendJson(response, status, vendor.error(status, ERROR_MESSAGE), {
      ...vendor.errorHeaders?.(status),
      ...retry,
    })
  }
  const seen = vendor.read(body, path)
  if (seen.stores) return sendJson(response, 400, threadRefusal())
  const model = body.get('model').text ?? modelIn(path)
  const reply = replyTo(scenario, seen, model)
  if (typeof reply === 'string') {
    return sendJson(response, 400, vendor.error(400, `the mock: ${reply}`), vendor.errorHeaders?.(400))
  }
  if (seen.streamed === isOther) {
    if (isOther && BREAKING.has(scenario)) return sendBroken(response, vendor, vendor.answer(reply, model), scenario)
    return sendJson(response, 200, vendor.answer(reply, model))
  }
  // Who sends streams unasked counts unasked, too.
  const counted = new Body({ ...(body.value as object), ...(isOther && { stream_options: { include_usage: true } }) })
  const { events, opening } = vendor.stream(reply, model, counted)
  response.writeHead(200, { 'content-type': vendor.streamType })
  for (const event of BREAKING.has(scenario) ? events.slice(0, opening) : events) {
    response.write(event)
    await setTimeout(1)
  }
  if (FAILING.has(scenario)) response.end(vendor.streamError(ERROR_MESSAGE))
  else if (scenario === 'cut') response.destroy()
  else if (!LASTING.has(scenario)) response.end()
}

/** Scenarios whose answers end with an error, or not at all. */
const FAILING: ReadonlySet<string> = new Set(['stream-error', 'error'])
const LASTING: ReadonlySet<string> = new Set(['abort', 'abort-stream'])
const BREAKING: ReadonlySet<string> = new Set([...FAILING, ...LASTING, 'cut'])

/** A whole answer that is none. */
async function sendBroken(response: ServerResponse, vendor: Vendor, answer: object, scenario: string): Promise<void> {
  if (FAILING.has(scenario)) return sendJson(response, 200, vendor.error(500, ERROR_MESSAGE))
  const text = JSON.stringify(answer)
  response.writeHead(200, { 'content-type': 'application/json' })
  response.write(text.slice(0, text.length / 2))
  if (LASTING.has(scenario)) return
  await setTimeout(5)
  response.destroy()
}

/** On this refusal clients send all messages. */
function threadRefusal(): object {
  const details = { error_code: 'thread_unsupported_request', unsupported: ['thread'] }
  return { type: 'error', error: { type: 'invalid_request_error', message: 'no threads', details } }
}

function answerGet(path: string, isMessages: boolean, response: ServerResponse): void {
  if (/\/responses\/resp_1$/.test(path)) return sendJson(response, 200, STORED)
  if (!path.endsWith('/models')) return sendJson(response, 404, completions.error(404, `no ${path}`))
  const model = isMessages
    ? { id: OWN_MODEL, type: 'model', display_name: OWN_MODEL, created_at: '2026-01-01T00:00:00Z' }
    : { id: OWN_MODEL, object: 'model', created: 1_700_000_000, owned_by: 'vendor' }
  sendJson(response, 200, { object: 'list', data: [model], has_more: false, first_id: OWN_MODEL, last_id: OWN_MODEL })
}

function modelIn(path: string): string {
  return /\/models?\/([^/:]+)/.exec(path)?.[1] ?? '?'
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  return Buffer.concat(pieces)
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}
