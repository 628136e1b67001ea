/** A request to a Kubernetes API as metrics count it. */
export interface ApiRequest {
  /** `get`, `list`, `watch`, `create`, `update`, `patch` or `delete`, as in roles. */
  readonly verb: string
  /** As in roles: `httproutes`, `httproutes/status`. */
  readonly resource: string
  /** Status of the response; `none` without one. */
  readonly code: string
}

const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }

/** What a request asks for (Kubernetes, "API access control"). @param path with the query */
export function describeRequest(method: string, path: string): Pick<ApiRequest, 'verb' | 'resource'> {
  const [place = '', query = ''] = path.split('?')
  const [, root, ...segments] = place.split('/')
  const parts = segments.slice(root === 'api' ? 1 : 2)
  // A namespace is also an object.
  const [plural = '', name, part] = parts[0] === 'namespaces' && parts.length > 2 ? parts.slice(2) : parts
  const reads = name !== undefined ? 'get' : new URLSearchParams(query).get('watch') === 'true' ? 'watch' : 'list'
  return { verb: VERBS[method] ?? reads, resource: part === undefined ? plural : `${plural}/${part}` }
}
