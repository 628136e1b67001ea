import { Agent as HttpAgent, type IncomingMessage, request as open } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { parseJson } from '#base/parse-json.ts'
import type { ApiAccess } from './api-access.ts'
import { ApiUnreadable } from './api-unreadable.ts'
import { type Members, membersOf, textOf } from './kubeconfig.ts'

/** Without any byte from the server. */
const IDLE_MS = 30_000
const CONNECTIONS = 8
const MAX_BYTES = 256 * 1024 * 1024

export interface ApiAnswer {
  readonly status: number
  readonly body: Members
}

/** A change of one object. */
interface ApiWrite {
  readonly method: 'PATCH' | 'DELETE'
  readonly contentType: string
  readonly body: object
}

/** Reads from a Kubernetes API, and changes single objects. */
export class ApiClient implements Disposable {
  readonly #access: ApiAccess
  readonly #agent: HttpAgent | HttpsAgent
  readonly #prefix: string

  constructor(access: ApiAccess) {
    this.#access = access
    const options = { keepAlive: true, maxSockets: CONNECTIONS }
    this.#agent =
      access.server.protocol === 'https:' ? new HttpsAgent({ ...options, ...access.tls }) : new HttpAgent(options)
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
  async get(path: string): Promise<ApiAnswer> {
    const { status, text } = await this.#fetch(path)
    const body = membersOf(parseAnswer(text))
    if (status === 200 || status === 404 || status === 410) return { status, body }
    const said = textOf(body.message)
    throw new ApiUnreadable(
      `${this.#prefix}${path} responded with status ${status}${said === undefined ? '' : `: ${said}`}`,
      status,
    )
  }

  /**
   * Applies an object on the server (Kubernetes, "Server-Side Apply").
   * @throws ApiUnreadable if it is refused
   */
  async apply(path: string, object: object): Promise<ApiAnswer> {
    const contentType = 'application/apply-patch+yaml'
    return this.#write(`${path}?fieldManager=gatewright&force=true`, { method: 'PATCH', contentType, body: object })
  }

  /** Deletes an object; 404: there is none. @throws ApiUnreadable if that is refused */
  async delete(path: string): Promise<ApiAnswer> {
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Foreground' }
    return this.#write(path, { method: 'DELETE', contentType: 'application/json', body })
  }

  async #write(path: string, write: ApiWrite): Promise<ApiAnswer> {
    const { status, text } = await this.#fetch(path, write)
    const body = membersOf(parseAnswer(text))
    if (status < 300 || status === 404) return { status, body }
    const said = textOf(body.message)
    const what = `${write.method} ${this.#prefix}${path} responded with status ${status}`
    throw new ApiUnreadable(said === undefined ? what : `${what}: ${said}`)
  }

  async #fetch(path: string, write?: ApiWrite): Promise<{ readonly status: number; readonly text: string }> {
    const { headers } = this.#access
    const body = write === undefined ? undefined : Buffer.from(JSON.stringify(write.body))
    // Node frames the body of a DELETE only when it is told the length.
    const framing = body && { 'content-type': write!.contentType, 'content-length': body.length }
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    // The agent opens the connection, with TLS or without it.
    const request = open(`${this.#prefix}${path}`, {
      agent: this.#agent,
      headers: { ...headers, accept: 'application/json', ...framing },
      method: write?.method ?? 'GET',
    })
    request.setTimeout(IDLE_MS, () => request.destroy(new Error(`no answer for ${IDLE_MS / 1000} seconds`)))
    request.once('error', reject)
    request.once('response', resolve)
    request.end(body)
    try {
      const response = await promise
      return { status: response.statusCode ?? 0, text: await textIn(response) }
    } catch (error) {
      throw new ApiUnreadable(`${this.#prefix} cannot be read: ${describe(error)}`)
    }
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }
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
function parseAnswer(text: string): unknown {
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
