import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { request as askTarget } from 'node:https'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** Sends a write on, at last. @returns the status of its answer */
type SendOn = () => Promise<number>

/** A server, and the account of all proxies there. */
export interface FrontTarget {
  readonly url: string
  /** Its authority, in PEM. */
  readonly ca: string
  readonly account: () => Promise<{ readonly namespace: string; readonly name: string; readonly uid: string }>
}

/**
 * The way of one replica of a controller to the API server of a test, which can break. That server reviews no tokens, so they are reviewed here:
 * the token of a proxy is the name of its pod.
 */
export class ReplicaFront {
  /** Writes that came here, without those of the Lease and of reviews, as `PUT /path`. */
  readonly writes: string[] = []
  readonly #target: FrontTarget
  readonly #open = new Set<IncomingMessage>()
  readonly #keeps = new Map<string, (send: SendOn) => void>()
  readonly #server = createServer((request, response) => void this.#take(request, response))
  #isAway = false

  constructor(target: FrontTarget) {
    this.#target = target
  }

  async start(): Promise<URL> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      this.#server.closeAllConnections()
      this.#server.close()
    })
    return new URL(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`)
  }

  /** Nothing comes through; what is under way is cut off. */
  cut(isAway: boolean): void {
    this.#isAway = isAway
    if (isAway) for (const { socket } of this.#open) socket.destroy()
  }

  /** Keeps the next write whose path ends so. Resolves when it has come. */
  keep(end: string): Promise<SendOn> {
    return new Promise((resolve) => void this.#keeps.set(end, resolve))
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#open.add(request)
    response.once('close', () => this.#open.delete(request))
    if (this.#isAway) return void request.socket.destroy()
    const body = Buffer.concat(await request.toArray())
    const { method, url: path = '' } = request
    if (path.endsWith('/tokenreviews')) return this.#review(JSON.parse(body.toString()).spec, response)
    const isWrite = method !== 'GET' && !path.includes('/leases')
    if (isWrite) this.writes.push(`${method} ${path}`)
    const [end, keep] = [...this.#keeps].find(([end]) => isWrite && path.endsWith(end)) ?? []
    if (keep === undefined) return void this.#passOn(request, body, response)
    this.#keeps.delete(end!)
    keep(() => this.#passOn(request, body, response))
  }

  async #review({ token, audiences }: Review, response: ServerResponse): Promise<void> {
    const { namespace, name, uid } = await this.#target.account()
    const extra = { 'authentication.kubernetes.io/pod-name': [token] }
    const user = { username: `system:serviceaccount:${namespace}:${name}`, uid, extra }
    const answer = { status: { authenticated: true, audiences, user } }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  }

  #passOn({ method, url, headers }: IncomingMessage, body: Buffer, response: ServerResponse): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>()
    const { host: _, ...others } = headers
    const onward = askTarget(`${this.#target.url}${url}`, { method, headers: others, ca: this.#target.ca })
    onward.on('error', () => response.destroy())
    onward.once('response', (answer) => {
      resolve(answer.statusCode!)
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
      answer.on('error', () => response.destroy())
      response.once('close', () => onward.destroy())
    })
    onward.end(body)
    return promise
  }
}

interface Review {
  readonly token: string
  readonly audiences: readonly string[]
}
