import { type Call, CallError, type CallRequest } from '#exchange/call.ts'
import { Exchange } from '#exchange/exchange.ts'
import { decodeStream } from '#net/body/decode-content.ts'
import { Head } from '#net/http/head.ts'
import { roomFor } from '#net/testing/room-for.ts'
import type { ServedAnswer } from '#protocols/backend-protocol.ts'
import type { McpPlan } from '#protocols/mcp/config/mcp-plan.ts'
import { handleMcp } from '#protocols/mcp/handle-mcp.ts'
import { McpMemory } from '#protocols/mcp/request/mcp-memory.ts'
import type { McpDeps } from '#protocols/mcp/request/mcp-request.ts'
import { LocalChannels } from '#state/channels.ts'
import { LocalTable } from '#state/shared-table.ts'
import { lastingServices } from './lasting-services.ts'
import { LOCAL_PEER } from './local-peer.ts'
import { testSealer } from './test-sealer.ts'

/** A JSON-RPC message with the members that tests use. */
export interface TestMessage {
  readonly jsonrpc?: '2.0'
  readonly id?: string | number
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: Record<string, unknown>
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** A call received by a target. */
export interface SeenCall {
  readonly target: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly message: TestMessage | undefined
  /** The text of the body. */
  readonly text: string
}

/** The response of a target. `events`: an event stream of messages or raw event text; `failure`: no response. */
export interface FakeReply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: unknown
  readonly events?: Iterable<object | string> | AsyncIterable<object | string>
  readonly failure?: CallError['failure']
  /** The failed call did not reach the target. */
  readonly unreached?: boolean
  /** The stream is aborted after its events. */
  readonly breaks?: boolean
}

export type FakeTarget = (call: SeenCall) => FakeReply | Promise<FakeReply>

export interface FakeTargets {
  readonly call: Call
  /** The received calls, in order. */
  readonly seen: SeenCall[]
}

const encoder = new TextEncoder()

/** Targets in memory, by name. */
export function fakeTargets(targets: Readonly<Record<string, FakeTarget>>): FakeTargets {
  const seen: SeenCall[] = []
  const call: Call = async (destination, request) => {
    const target = destination.slice(destination.lastIndexOf('/') + 1)
    const noted = noteCall(target, request)
    seen.push(noted)
    const reply = await targets[target]!(noted)
    if (reply.failure !== undefined)
      throw new CallError(reply.failure, undefined, reply.unreached === true ? '127.0.0.1:80' : undefined)
    const type = reply.events === undefined ? 'application/json' : 'text/event-stream'
    const hasBody = reply.events !== undefined || reply.json !== undefined
    const headers = { ...(hasBody && { 'content-type': type }), ...reply.headers }
    return {
      status: reply.status ?? (hasBody ? 200 : 202),
      headers: Object.entries(headers),
      header: (lowerName) => (headers as Record<string, string>)[lowerName],
      endpoint: '127.0.0.1:80',
      trailer: () => undefined,
      body: bodyOf(reply),
    }
  }
  return { call, seen }
}

function noteCall(target: string, { method, path, headers, body }: CallRequest): SeenCall {
  if (body !== undefined && !(body instanceof Uint8Array)) throw new Error('calls to targets have whole bodies')
  const text = new TextDecoder().decode(body)
  const message = body === undefined ? undefined : (JSON.parse(text) as TestMessage)
  return { target, method, path, headers: Object.fromEntries(headers), message, text }
}

async function* bodyOf({ json, events, breaks }: FakeReply): AsyncGenerator<Uint8Array> {
  if (json !== undefined) yield encoder.encode(typeof json === 'string' ? json : JSON.stringify(json))
  for await (const event of events ?? []) {
    yield encoder.encode(typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`)
  }
  if (breaks) throw new CallError('reset')
}

/** The response that a client received. */
export interface Received {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The messages of an event stream, or the message of a JSON body. */
  readonly messages: readonly TestMessage[]
  readonly exchange: Exchange
}

export interface TestRequest {
  readonly method?: string
  readonly target?: string
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly message?: object | string
  readonly prepare?: (exchange: Exchange) => void
  /** When the client leaves a stream, which may have no end. */
  readonly leaves?: (text: string, exchange: Exchange) => boolean
  /** Aborted by the test when the client leaves before it has a response. */
  readonly client?: AbortController
}

/** A client that calls `handleMcp` without sockets. It keeps its session id and has its own sealing key. */
export class TestClient {
  readonly #plan: McpPlan
  readonly #deps: Omit<McpDeps, 'signal'>
  sessionId: string | undefined

  constructor(plan: McpPlan, call: Call, deps: Partial<McpDeps> = {}) {
    this.#plan = plan
    this.#deps = {
      call,
      lasting: lastingServices(call),
      sealer: testSealer(),
      table: new LocalTable(),
      channels: new LocalChannels('w1'),
      decode: decodeStream,
      whenOver: () => {},
      memory: new McpMemory(),
      claim: roomFor(0).claim,
      ...deps,
    }
  }

  /** The same client with other services, or at another plan. */
  with(deps: Partial<McpDeps>, plan = this.#plan): TestClient {
    const lasting = deps.call === undefined ? {} : { lasting: lastingServices(deps.call) }
    return new TestClient(plan, this.#deps.call, { ...this.#deps, ...lasting, ...deps })
  }

  async send(request: TestRequest): Promise<Received> {
    const { method = 'POST', target = '/mcp', headers, message, prepare, leaves } = request
    const exchange = new Exchange(Head.request(method, target), LOCAL_PEER)
    exchange.originalTarget = target
    const fields = { ...this.#usualHeaders(method), ...headers }
    for (const [name, value] of Object.entries(fields)) if (value !== undefined) exchange.request.append(name, value)
    prepare?.(exchange)
    const body = message === undefined ? undefined : encoder.encode(toText(message))
    const client = request.client ?? new AbortController()
    const answer = await handleMcp(this.#plan, exchange, body, { ...this.#deps, signal: client.signal })
    const text = await readBody(answer.body, client, (text) => leaves?.(text, exchange) === true)
    return {
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      text,
      messages: readMessages(text),
      exchange,
    }
  }

  request(id: number, method: string, params?: object): Promise<Received> {
    return this.send({ message: { jsonrpc: '2.0', id, method, ...(params && { params }) } })
  }

  notify(method: string, params?: object): Promise<Received> {
    return this.send({ message: { jsonrpc: '2.0', method, ...(params && { params }) } })
  }

  /** Begins a session. */
  async initialize(prepare?: (exchange: Exchange) => void): Promise<Received> {
    const received = await this.send({
      message: initializeMessage(),
      headers: { 'mcp-session-id': undefined },
      ...(prepare && { prepare }),
    })
    this.sessionId = received.headers['mcp-session-id']
    return received
  }

  #usualHeaders(method: string): Record<string, string | undefined> {
    return {
      host: '127.0.0.1',
      accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
      'content-type': method === 'POST' ? 'application/json' : undefined,
      'mcp-session-id': this.sessionId,
    }
  }
}

export function initializeMessage(params: object = {}): object {
  const clientInfo = { name: 'test', version: '1' }
  const all = { protocolVersion: '2025-11-25', capabilities: { sampling: {} }, clientInfo, ...params }
  return { jsonrpc: '2.0', id: 0, method: 'initialize', params: all }
}

/** A target that supports initialization and then responds with `answer`; undefined: the response to a notification. */
export function target(
  answer: FakeTarget,
  capabilities: object = { tools: {}, prompts: {}, resources: {} },
): FakeTarget {
  return (call) => {
    const { message } = call
    if (message?.method === 'initialize') {
      const serverInfo = { name: call.target, version: '1' }
      const result = { protocolVersion: message.params?.protocolVersion, capabilities, serverInfo }
      const headers = { 'mcp-session-id': `session of ${call.target}` }
      return { json: { jsonrpc: '2.0', id: message.id, result }, headers }
    }
    if (message?.method?.startsWith('notifications/')) return {}
    return answer(call)
  }
}

function toText(message: object | string): string {
  return typeof message === 'string' ? message : JSON.stringify(message)
}

async function readBody(
  body: ServedAnswer['body'],
  client: AbortController,
  leaves: (text: string) => boolean,
): Promise<string> {
  if (body === undefined) return ''
  if (body instanceof Uint8Array) return new TextDecoder().decode(body)
  const decoder = new TextDecoder()
  let text = ''
  const look = setInterval(() => {
    if (!leaves(text)) return
    client.abort()
    if ('pipe' in body) body.cancel()
  }, 1)
  try {
    for await (const piece of body) text += decoder.decode(piece, { stream: true })
  } finally {
    clearInterval(look)
  }
  return text
}

function readMessages(text: string): TestMessage[] {
  if (text.startsWith('{')) return [JSON.parse(text) as TestMessage]
  const lines = text.split('\n').filter((line) => line.startsWith('data: {'))
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as TestMessage)
}
