/** What the path of a request names. */
export type RequestTarget =
  | ResourceTarget
  | {
      readonly type: 'other'
      /** The path without a slash at its end; '/' for the root. */
      readonly path: string
    }

/** Objects of a kind, or one of them. */
export interface ResourceTarget {
  readonly type: 'resource'
  /** '' for the core group. */
  readonly group: string
  readonly version: string
  readonly plural: string
  /** Undefined: all namespaces, or a kind without namespaces. */
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly subresource: string | undefined
}

/**
 * Reads a path below `/api/v1` or `/apis/<group>/<version>` (Kubernetes, "API concepts: Resource URIs").
 * @param path still percent-encoded
 * @returns undefined if an escape is malformed or the path has too many parts
 */
export function readTarget(path: string): RequestTarget | undefined {
  let parts: string[]
  try {
    parts = path.split('/').filter(Boolean).map(decodeURIComponent)
  } catch {
    return undefined
  }
  const [root] = parts
  const ofCore = root === 'api' && parts.length > 2
  const ofGroup = root === 'apis' && parts.length > 3
  if (!ofCore && !ofGroup) return { type: 'other', path: `/${parts.join('/')}` }
  const [group, version, ...rest] = ofCore ? ['', ...parts.slice(1)] : parts.slice(1)
  const target = readResource(rest)
  return target && { type: 'resource', group: group!, version: version!, ...target }
}

function readResource(parts: readonly string[]): Omit<ResourceTarget, 'type' | 'group' | 'version'> | undefined {
  // `namespaces/<name>` and its subresources are the Namespace itself.
  const isInNamespace = parts[0] === 'namespaces' && parts.length > 2 && !NAMESPACE_SUBRESOURCES.has(parts[2]!)
  const [namespace, rest] = isInNamespace ? [parts[1], parts.slice(2)] : [undefined, parts]
  const [plural, name, subresource, ...more] = rest
  if (plural === undefined || more.length > 0) return undefined
  return { plural, namespace, name, subresource }
}

const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize'])
