import { Agent as HttpAgent, type IncomingMessage, request as open } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { parseJson } from '#base/parse-json.ts'
import type { ApiAccess } from './api-access.ts'
import { type ApiRequest, describeRequest } from './api-request.ts'
import { ApiUnreadable } from './api-unreadable.ts'
import { type Members, membersOf, textOf } from './kubeconfig.ts'
import { Lines } from './lines.ts'

/** Without any byte from the server. */
const IDLE_MS = 30_000
const CONNECTIONS = 8
const MAX_BYTES = 256 * 1024 * 1024
/** An API accepts objects of a few MiB. */
const MAX_LINE_BYTES = 16 * 1024 * 1024

export interface ApiAnswer {
  readonly status: number
  readonly body: Members
}

/** A document that need not be JSON. */
export interface ApiDocument {
  readonly status: number
  readonly text: string
  /** The clock of the server, in milliseconds since the epoch, rounded down to a second; undefined: it does not say. */
  readonly dateMs: number | undefined
}

/** A change of one object. */
interface ApiWrite {
  readonly method: 'PATCH' | 'PUT' | 'POST' | 'DELETE'
  readonly contentType: string
  readonly body: object
}

/** Owns the fields that the gateway applies. */
export const MANAGER = 'gatewright'

/** Gives a request up. */
export interface Abortable {
  readonly signal?: AbortSignal
}

export interface ReadOptions extends Abortable {
  readonly accept?: string | undefined
}

export interface ApplyOptions extends Abortable {
  readonly manager?: string
  /** Nothing is stored. */
  readonly dryRun?: boolean
}

/** An event of a watch, with the names of Kubernetes (v1.WatchEvent). */
export interface WatchEvent {
  readonly type: string
  readonly object: Members
}

export interface WatchOptions {
  readonly signal: AbortSignal
  /** Without any byte from the server; longer than the time between two bookmarks. */
  readonly idleMs: number
  readonly accept?: string
}

interface Call {
  readonly agent: HttpAgent | HttpsAgent
  readonly accept?: string | undefined
  readonly write?: ApiWrite | undefined
  /** Fields that ask for another protocol (RFC 9110, 7.8). */
  readonly upgrade?: Readonly<Record<string, string>>
  readonly idleMs?: number
  readonly signal?: AbortSignal
}

/** Reads from a Kubernetes API, follows its changes, and changes single objects. */
export class ApiClient implements Disposable {
  readonly #access: ApiAccess
  readonly #asked: (request: ApiRequest) => void
  readonly #agent: HttpAgent | HttpsAgent
  /** A watch occupies a connection for minutes. */
  readonly #watchAgent: HttpAgent | HttpsAgent
  readonly #prefix: string

  /** @param asked hears of each request when its response begins, or when there is none */
  constructor(access: ApiAccess, asked: (request: ApiRequest) => void = () => {}) {
    this.#access = access
    this.#asked = asked
    // With `keepAlive`, the kernel notices a peer that is gone after about 10 seconds.
    const options = { keepAlive: true }
    const agent = (maxSockets: number) =>
      access.server.protocol === 'https:'
        ? new HttpsAgent({ ...options, ...access.tls, maxSockets })
        : new HttpAgent({ ...options, maxSockets })
    this.#agent = agent(CONNECTIONS)
    this.#watchAgent = agent(Number.POSITIVE_INFINITY)
    this.#prefix = access.server.href.replace(/\/+$/, '')
  }

  get server(): string {
    return this.#prefix
  }

  /**
   * Gets one document. 404 and 410 have a meaning for the caller.
   * @param path with the query
   * @throws ApiUnreadable for every other failure
   */
  async get(path: string, options: ReadOptions = {}): Promise<ApiAnswer> {
    const { status, text } = await this.read(path, options)
    return { status, body: membersOf(parseAnswer(text)) }
  }

  /** The same for a document of any type, such as the log of a container. @throws ApiUnreadable */
  async read(path: string, { accept, signal }: ReadOptions = {}): Promise<ApiDocument> {
    const { response, text } = await this.#fetch(path, { agent: this.#agent, accept, ...(signal && { signal }) })
    const status = response.statusCode ?? 0
    if (status !== 200 && status !== 404 && status !== 410)
      throw this.#refusal(`${this.#prefix}${path}`, response, text)
    const date = Date.parse(response.headers.date ?? '')
    return { status, text, dateMs: Number.isNaN(date) ? undefined : date }
  }

  /**
   * Follows the changes of a list. Ends when the server ends the watch.
   * @param path with the query, which begins with `watch=true`
   * @yields events that arrived together; none when the watch begins
   * @throws ApiUnreadable
   */
  async *watch(path: string, { accept, signal, idleMs }: WatchOptions): AsyncGenerator<readonly WatchEvent[]> {
    const response = await this.#open(path, { agent: this.#watchAgent, accept, signal, idleMs })
    try {
      if (response.statusCode !== 200) throw this.#refusal(`${this.#prefix}${path}`, response, await textIn(response))
      yield []
      const lines = new Lines(MAX_LINE_BYTES)
      for await (const piece of response as AsyncIterable<Buffer>) {
        const events = lines.take(piece).map(readEvent)
        if (events.length > 0) yield events
      }
    } catch (error) {
      throw error instanceof ApiUnreadable ? error : this.#failure(error)
    } finally {
      response.destroy()
    }
  }

  /**
   * Applies an object on the server (Kubernetes, "Server-Side Apply").
   * @throws ApiUnreadable if it is refused
   */
  async apply(
    path: string,
    object: object,
    { manager = MANAGER, dryRun = false, signal }: ApplyOptions = {},
  ): Promise<ApiAnswer> {
    const contentType = 'application/apply-patch+yaml'
    const query = `fieldManager=${manager}&force=true${dryRun ? '&dryRun=All' : ''}`
    return this.#write(`${path}?${query}`, { method: 'PATCH', contentType, body: object }, signal)
  }

  /** Merges a patch into an object (RFC 7396). @throws ApiUnreadable with 409 if it names a version that has changed since */
  async merge(path: string, patch: object, { signal }: Abortable = {}): Promise<ApiAnswer> {
    return this.#write(path, { method: 'PATCH', contentType: 'application/merge-patch+json', body: patch }, signal)
  }

  /** Replaces an object, or its status, in the version that it names. @throws ApiUnreadable with 409 if it has changed since */
  async replace(path: string, object: object, { signal }: Abortable = {}): Promise<ApiAnswer> {
    return this.#write(path, { method: 'PUT', contentType: 'application/json', body: object }, signal)
  }

  /** Creates an object in a list. @throws ApiUnreadable with 409 if it exists */
  async create(path: string, object: object, { signal }: Abortable = {}): Promise<ApiAnswer> {
    return this.#write(path, { method: 'POST', contentType: 'application/json', body: object }, signal)
  }

  /** Deletes an object; 404: there is none. @throws ApiUnreadable if that is refused */
  async delete(path: string, { signal }: Abortable = {}): Promise<ApiAnswer> {
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Foreground' }
    return this.#write(path, { method: 'DELETE', contentType: 'application/json', body }, signal)
  }

  /**
   * Asks for another protocol on a connection of its own.
   * @param fields that ask for it
   * @returns the response with status 101, whose socket speaks the protocol from then on
   * @throws ApiUnreadable if that is refused
   */
  async upgrade(
    path: string,
    fields: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<IncomingMessage> {
    const response = await this.#open(path, {
      agent: this.#watchAgent,
      // Of what the other protocol carries; the API refuses a narrower type with 406.
      accept: '*/*',
      upgrade: { connection: 'Upgrade', ...fields },
      ...(signal && { signal }),
    })
    if (response.statusCode === 101) return response
    throw this.#refusal(`${this.#prefix}${path}`, response, await textIn(response))
  }

  async #write(path: string, write: ApiWrite, signal: AbortSignal | undefined): Promise<ApiAnswer> {
    const { response, text } = await this.#fetch(path, { agent: this.#agent, write, ...(signal && { signal }) })
    const status = response.statusCode ?? 0
    if (status < 300 || status === 404) return { status, body: membersOf(parseAnswer(text)) }
    throw this.#refusal(`${write.method} ${this.#prefix}${path}`, response, text)
  }

  async #fetch(path: string, call: Call): Promise<{ readonly response: IncomingMessage; readonly text: string }> {
    const response = await this.#open(path, call)
    try {
      return { response, text: await textIn(response) }
    } catch (error) {
      throw this.#failure(error)
    }
  }

  /** Sends a request. @returns its response, whose body has not been read @throws ApiUnreadable */
  async #open(
    path: string,
    { agent, accept, write, upgrade, idleMs = IDLE_MS, signal }: Call,
  ): Promise<IncomingMessage> {
    const { headers, token } = this.#access
    const body = write === undefined ? undefined : Buffer.from(JSON.stringify(write.body))
    const authorization = token && { authorization: `Bearer ${token.get()}` }
    // Node frames the body of a DELETE only when it is told the length.
    const framing = body && { 'content-type': write!.contentType, 'content-length': body.length }
    const method = write?.method ?? 'GET'
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    // The agent opens the connection, with TLS or without it.
    const request = open(`${this.#prefix}${path}`, {
      agent,
      headers: { ...headers, ...authorization, accept: accept ?? 'application/json', ...framing, ...upgrade },
      method,
      ...(signal && { signal }),
    })
    let response: IncomingMessage | undefined
    const silent = () => (response ?? request).destroy(new Error(`no data from it for ${idleMs / 1000} seconds`))
    request.setTimeout(idleMs, silent)
    // Not only before the response.
    request.on('error', reject)
    request.once('response', resolve)
    if (upgrade !== undefined) {
      request.once('upgrade', (upgraded, socket, first) => {
        request.setTimeout(0)
        socket.unshift(first)
        resolve(upgraded)
      })
    }
    request.end(body)
    try {
      response = await promise
      this.#asked({ ...describeRequest(method, path), code: String(response.statusCode) })
      return response
    } catch (error) {
      // The caller gave it up.
      if (signal?.aborted !== true) this.#asked({ ...describeRequest(method, path), code: 'none' })
      throw this.#failure(error)
    }
  }

  #refusal(what: string, { statusCode: status = 0, headers }: IncomingMessage, text: string): ApiUnreadable {
    if (status === 401) this.#access.token?.expire()
    const said = textOf(membersOf(parseAnswer(text)).message)
    const answered = `${what} responded with status ${status}`
    const retryAfterMs = Number(headers['retry-after'] ?? 0) * 1000 || 0
    return new ApiUnreadable(this.#withCredential(said === undefined ? answered : `${answered}: ${said}`), {
      status,
      retryAfterMs,
      said,
    })
  }

  #failure(error: unknown): ApiUnreadable {
    return new ApiUnreadable(this.#withCredential(`${this.#prefix} cannot be read: ${describe(error)}`))
  }

  #withCredential(message: string): string {
    const { credential } = this.#access
    return credential === undefined ? message : `${message} (credential: ${credential})`
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
    this.#watchAgent.destroy()
  }
}

/** @throws Error */
function readEvent(line: string): WatchEvent {
  const { type, object } = membersOf(parseAnswer(line))
  if (typeof type !== 'string') throw new Error('a line of a watch is not an event')
  return { type, object: membersOf(object) }
}

async function textIn(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of response as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > MAX_BYTES) throw new Error(`an answer has more than ${MAX_BYTES} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

/** Undefined: a proxy in between answered, or the server is no Kubernetes API. */
/** @returns undefined for a text that is no JSON */
export function parseAnswer(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** Connections to several addresses of a name fail with an error that has only a code. */
function describe(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException
  if (code === 'ECONNREFUSED') return 'connection refused; is it running?'
  return message === '' ? `${code}` : message
}
