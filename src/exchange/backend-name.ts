/**
 * The name of a backend in records, metrics and expressions: `default/tools` for `ProxyBackend/default/tools`, `default/web` for
 * `Service/default/web/80`, `default/guards.promptGuard.request[0]` for a service that a part of the policy `guards` describes.
 */
export function backendName(key: string): string {
  const [, namespace, name] = key.split('/')
  return `${namespace}/${shortName(name!)}`
}

/** Name of the backend that a part of an object is by itself. No object has a colon in its name. */
export function ownBackendName({ kind, name }: { readonly kind: string; readonly name: string }, path: string): string {
  return `${kind}:${name}:${path}`
}

/** Segments of paths that say nothing about which part it is. */
const OBVIOUS: ReadonlySet<string> = new Set(['spec', 'policies', 'backend', 'ai'])

/** Without the last segment, the type of the service. */
function shortName(name: string): string {
  const [, object, path] = name.split(':')
  if (path === undefined) return name
  const segments = path.split('.').filter((segment) => !OBVIOUS.has(segment))
  return [object, ...segments.slice(0, -1)].join('.')
}
