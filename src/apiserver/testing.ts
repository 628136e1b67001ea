import { Agent, request as httpsRequest } from 'node:https'
import { parseJson } from '#base/parse-json.ts'
import type { FileOrigin } from '#store/resources/resource.ts'
import { type Journal, ResourceTable } from '#store/resources/resource-table.ts'
import { startApiServer } from './api-server.ts'
import { createCertificate } from './credentials/certificates.ts'
import { CustomResources } from './custom-resources/custom-resources.ts'
import { definitionKind } from './custom-resources/definition-kind.ts'
import { KindRegistry } from './kinds/registry.ts'
import { reviewKinds } from './kinds/review-kinds.ts'
import { ApiDocuments } from './openapi/documents.ts'
import { builtInKinds } from './platform-rules/built-in-kinds.ts'
import type { ApiContext, AuditEntry } from './serve/api-context.ts'
import { timestamp } from './verbs/prepare.ts'
import { Snapshots } from './verbs/snapshots.ts'
import { Watches } from './verbs/watch.ts'

export const TOKEN = 'test-token'

export interface TestAnswer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into objects of all kinds
  readonly body: any
  readonly text: string
  readonly headers: NodeJS.Dict<string | string[]>
}

export interface TestCall {
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly token?: string | undefined
}

/** A running API server with an empty table, but for the namespace `default`. */
export async function startTestServer(journal?: Journal) {
  const table = new ResourceTable(journal)
  const metadata = { name: 'default', uid: 'n', resourceVersion: '', creationTimestamp: timestamp() }
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata }
  table.commit([{ key: { collection: 'namespaces', namespace: '', name: 'default' }, object: namespace }])
  const files = new Map<string, FileOrigin>()
  const findings = new Map<string, readonly string[]>()
  const audit: AuditEntry[] = []
  const bugs: unknown[] = []
  const kinds = new KindRegistry([...builtInKinds(), ...reviewKinds(), definitionKind()])
  const customResources = new CustomResources({ table, kinds, reportFailure: (error) => bugs.push(error) })
  const documents = new ApiDocuments(kinds, '0.0.0')
  const context: ApiContext = {
    state: {
      table,
      kinds,
      fileOf: ({ collection, namespace, name }) => files.get(`${collection}/${namespace}/${name}`),
      findingsOf: ({ name }) => findings.get(name) ?? [],
    },
    snapshots: new Snapshots(),
    watches: new Watches(table),
    document: (path, accept) => documents.find(path, accept),
    audit: (entry) => audit.push(entry),
    reportBug: (error) => bugs.push(error),
  }
  const { ca, certificate, key } = await createCertificate({ dns: ['localhost'], ips: ['127.0.0.1'] })
  const server = await startApiServer({ ...context, host: '127.0.0.1', port: 0, certificate, key, token: TOKEN })
  // A handshake takes more time than most calls.
  const connections = new Agent({ keepAlive: true })
  const open = (path: string, { method = 'GET', body, headers = {}, token = TOKEN }: TestCall = {}) => {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const type =
      text === undefined ? {} : { 'content-type': 'application/json', 'content-length': `${Buffer.byteLength(text)}` }
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const options = { method, ca, agent: connections, headers: { ...type, ...authorization, ...headers } }
    const request = httpsRequest(`${server.url}${path}`, options)
    request.end(text)
    return request
  }
  const call = (path: string, options?: TestCall) =>
    new Promise<TestAnswer>((resolve, reject) => {
      const request = open(path, options)
      request.once('error', reject)
      request.once('response', async (response) => {
        const pieces = await response.toArray()
        const text = Buffer.concat(pieces).toString()
        const isJson = response.headers['content-type'] === 'application/json'
        resolve({
          status: response.statusCode!,
          body: isJson ? parseJson(text) : text,
          text,
          headers: response.headers,
        })
      })
    })
  /** Begins a watch; `next` resolves with its next event, undefined at its end. */
  const watch = async (path: string, options?: TestCall) => {
    const request = open(path, options)
    const response = await new Promise<AsyncIterable<Buffer> & { statusCode?: number }>((resolve, reject) => {
      request.once('response', resolve)
      request.once('error', reject)
    })
    const events = readLines(response)
    return {
      status: response.statusCode,
      // biome-ignore lint/suspicious/noExplicitAny: tests look into objects of all kinds
      next: async (): Promise<any> => (await events.next()).value,
      leave: () => request.destroy(),
    }
  }
  const close = async () => {
    customResources.close()
    connections.destroy()
    await server.close()
  }
  return {
    ...server,
    close,
    table,
    files,
    findings,
    audit,
    bugs,
    kinds,
    open,
    call,
    watch,
    ca,
    context,
    watches: context.watches,
  }
}

async function* readLines(response: AsyncIterable<Buffer>): AsyncGenerator<unknown> {
  let rest = ''
  for await (const piece of response) {
    rest += piece.toString()
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      yield parseJson(rest.slice(0, end))
      rest = rest.slice(end + 1)
    }
  }
}
