import type { ServerResponse } from 'node:http'
import { forwardToPort } from '#test/support/forward-to-port.ts'
import { answerJson, type JsonRequest, startJsonServer } from '#test/support/json-server.ts'
import { ApiClient } from './api-client.ts'
import type { Members } from './kubeconfig.ts'

/** An object of the fake, without what its list tells. */
type FakeObject = { metadata: { name: string; namespace?: string; labels?: Record<string, string> } } & Members

interface Refusal {
  readonly status: number
  readonly message: string
}

interface FakeWatch {
  readonly path: string
  readonly response: ServerResponse
}

/** An API with these lists, by path: its answers and its watches can be made to fail. Objects are in one list, and in that of their namespace. */
export async function startFakeApi(lists: Record<string, readonly FakeObject[]>) {
  const server = await startJsonServer()
  const objects = new Map<string, Map<string, FakeObject>>()
  const watches = new Set<FakeWatch>()
  let revision = 10
  const versioned = (object: FakeObject): FakeObject => ({
    ...object,
    metadata: { ...object.metadata, ...{ resourceVersion: String(++revision) } },
  })
  const idOf = ({ metadata }: FakeObject) => `${metadata.namespace ?? ''}/${metadata.name}`
  for (const [path, items] of Object.entries(lists))
    objects.set(path, new Map(items.map((item) => [idOf(item), versioned(item)])))
  const api = {
    /** Answers instead of the API, if it does. */
    special: (_request: JsonRequest, _response: ServerResponse): void => {},
    /** Lists have only the objects with the labels that a client asks for. */
    selectsByLabel: false,
    /** Where a port of a pod is: a port of this machine, or the status and the message of a refusal. */
    portOf: (_pod: string, _port: number): number | Refusal => ({ status: 404, message: 'not found' }),
    client: new ApiClient({
      server: new URL(`http://127.0.0.1:${server.port}`),
      tls: {},
      headers: {},
      credential: 'a user',
    }),
    address: `http://127.0.0.1:${server.port}`,
    /** Paths with queries. */
    get paths(): string[] {
      return server.seen.map(({ path }) => path)
    },
    /** Adds a list: the kind is served from now on. */
    serve: (path: string) => void objects.set(path, new Map()),
    /** The kind is not served any more. */
    withdraw: (path: string) => {
      objects.delete(path)
      api.breakWatches(path)
    },
    put: (path: string, object: FakeObject) => {
      const now = versioned(object)
      const type = objects.get(path)!.has(idOf(object)) ? 'MODIFIED' : 'ADDED'
      objects.get(path)!.set(idOf(object), now)
      api.send(path, { type, object: now })
    },
    /** Changes a list behind the back of its watches. */
    putSilently: (path: string, object: FakeObject) => void objects.get(path)!.set(idOf(object), versioned(object)),
    remove: (path: string, id: string) => {
      const object = objects.get(path)!.get(id)!
      objects.get(path)!.delete(id)
      api.send(path, { type: 'DELETED', object: versioned(object) })
    },
    send: (path: string, event: object) => {
      for (const watch of watches) if (watch.path === path) watch.response.write(`${JSON.stringify(event)}\n`)
    },
    /** Ends the connections of the watches of a list. */
    breakWatches: (path: string) => {
      for (const watch of [...watches]) {
        if (watch.path !== path) continue
        watches.delete(watch)
        watch.response.destroy()
      }
    },
    isWatched: (path: string) => [...watches].some((watch) => watch.path === path),
    [Symbol.asyncDispose]: async () => {
      api.client[Symbol.dispose]()
      await server[Symbol.asyncDispose]()
    },
  }
  server.upgrade = (request, socket) => {
    const found = /\/pods\/([^/]+)\/portforward\?ports=(\d+)$/.exec(request.url!)
    const place = found === null ? { status: 404, message: 'not found' } : api.portOf(found[1]!, Number(found[2]))
    if (typeof place === 'number') return forwardToPort(request, socket, place)
    const body = JSON.stringify({ kind: 'Status', message: place.message })
    const head = `HTTP/1.1 ${place.status} Refused\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(body)}`
    socket.end(`${head}\r\n\r\n${body}`)
  }
  server.answer = (request, response) => {
    api.special(request, response)
    if (response.headersSent || response.destroyed) return
    const [full = '', query = ''] = request.path.split('?')
    const { base, namespace } = splitPath(full)
    const parameters = new URLSearchParams(query)
    const list = objects.get(base)
    const parent = objects.get(base.slice(0, base.lastIndexOf('/')))
    if (parent !== undefined) {
      const found = parent.get(`${namespace}/${base.slice(base.lastIndexOf('/') + 1)}`)
      return answerJson(response, found ?? { message: 'not found' }, found === undefined ? 404 : 200)
    }
    if (list === undefined) return answerJson(response, { message: 'no such kind' }, 404)
    const isPartial = request.headers.accept?.includes('PartialObjectMetadataList')
    if (parameters.get('watch') === 'true') {
      const watch = { path: base, response }
      watches.add(watch)
      response.on('close', () => watches.delete(watch))
      response.writeHead(200).flushHeaders()
      // As Kubernetes does.
      if (isPartial === true) watches.delete(watch)
      return
    }
    const selector = api.selectsByLabel ? parameters.get('labelSelector') : null
    const wanted = (selector ?? '').split(',').filter(Boolean)
    const isSelected = ({ metadata: { labels = {} } }: FakeObject) =>
      wanted
        .map((each) => each.split('='))
        .every(([label = '', value = labels[label]]) => value !== undefined && labels[label] === value)
    const items = [...list.values()]
      .filter(({ metadata }) => namespace === '' || metadata.namespace === namespace)
      .filter(isSelected)
    const metadata = items.length === 0 ? null : items.map(({ metadata }) => ({ metadata }))
    const shown = isPartial === true ? metadata : items
    answerJson(response, { metadata: { resourceVersion: String(revision) }, items: shown })
  }
  return api
}

/** `/api/v1/namespaces/a/pods` is the part of `/api/v1/pods` in namespace `a`. */
function splitPath(path: string): { readonly base: string; readonly namespace: string } {
  const found = /^(.*)\/namespaces\/([^/]+)(\/.+)$/.exec(path)
  return found === null ? { base: path, namespace: '' } : { base: `${found[1]}${found[3]}`, namespace: found[2]! }
}
