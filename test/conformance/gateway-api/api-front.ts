import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'
import { Agent, request as open } from 'node:https'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import type { ApiAccess } from '#cluster/api-access.ts'
import { type Deployment, keyOf } from './deployed-pods.ts'
import type { Node } from './node.ts'

const APPS = '/apis/apps/v1'
const DEPLOYMENT = new RegExp(`^${APPS}/namespaces/([^/]+)/deployments(?:/([^/]+))?$`)
const LOG = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/log$/
const RESOURCES = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: 'apps/v1',
  resources: [
    {
      name: 'deployments',
      singularName: 'deployment',
      namespaced: true,
      kind: 'Deployment',
      verbs: ['create', 'delete', 'get'],
    },
  ],
}

/** The API of a gateway, and what the suite needs beside it: Deployments, and logs of pods. */
export class ApiFront {
  readonly #access: ApiAccess
  readonly #agent: Agent
  readonly #node: Node
  readonly #deployments = new Map<string, Deployment>()

  private constructor(access: ApiAccess, node: Node) {
    this.#access = access
    this.#agent = new Agent({ keepAlive: true, ...access.tls })
    this.#node = node
  }

  /** @returns its URL; it needs no credentials */
  static async start(access: ApiAccess, node: Node): Promise<string> {
    const front = new ApiFront(access, node)
    const server = createServer((request, response) => void front.#serve(request, response))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, 'http://localhost')
    if (pathname === APPS) return answer(response, 200, RESOURCES)
    const deployment = DEPLOYMENT.exec(pathname)
    if (deployment !== null) return this.#serveDeployment(request, response, deployment)
    const [, namespace, name] = LOG.exec(pathname) ?? []
    if (name === undefined) return this.#pass(request, response)
    const text = this.#node.log(namespace!, name, Date.parse(searchParams.get('sinceTime') ?? '') || 0)
    if (text === undefined) return answer(response, 404, missing(name))
    response.writeHead(200, { 'content-type': 'text/plain' }).end(text)
  }

  async #serveDeployment(
    request: IncomingMessage,
    response: ServerResponse,
    [, namespace, name]: readonly string[],
  ): Promise<void> {
    if (request.method === 'POST') {
      const created = (await json(request)) as Deployment
      const uid = randomUUID()
      const stored = { ...created, metadata: { ...created.metadata, uid, resourceVersion: '1', generation: 1 } }
      this.#deployments.set(keyOf(stored.metadata), stored)
      this.#node.deploy(stored)
      return answer(response, 201, stored)
    }
    const key = `${namespace}/${name}`
    const found = this.#deployments.get(key)
    if (found === undefined) return answer(response, 404, missing(name ?? ''))
    if (request.method === 'DELETE') {
      this.#deployments.delete(key)
      this.#node.withdraw(key)
    }
    answer(response, 200, found)
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { server, headers: credentials } = this.#access
    const { method = 'GET', headers } = request
    const passed = open(new URL(request.url!, server), {
      agent: this.#agent,
      method,
      headers: { ...(headers as OutgoingHttpHeaders), host: server.host, ...(credentials as OutgoingHttpHeaders) },
    })
    const answered = once(passed, 'response') as Promise<[IncomingMessage]>
    await pipeline(request, passed)
    const [answer] = await answered
    response.writeHead(answer.statusCode!, answer.headers)
    await pipeline(answer, response)
    if (method !== 'GET') this.#node.update()
  }
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function missing(name: string): object {
  const details = { name, group: 'apps', kind: 'deployments' }
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404, details }
}
