/**
 * Values by path and path prefix. The prefix `/api` is found for `/api`, `/api/` and `/api/x`, not for `/apiary`; the path `/api` is found
 * for `/api` alone (Gateway API, PathPrefix and Exact).
 */
export class PathTree<T> {
  readonly #root: Node<T> = new Node('')

  /** The value of a prefix, created on first use. */
  atPrefix(prefix: string, create: () => T): T {
    const node = this.#nodeOf(prefixSegments(prefix))
    node.ofPrefix ??= create()
    return node.ofPrefix
  }

  /** The value of a path that begins with a slash, created on first use. */
  atPath(path: string, create: () => T): T {
    const node = this.#nodeOf(path.slice(1).split('/'))
    node.ofPath ??= create()
    return node.ofPath
  }

  /**
   * Writes the values for `path` to `found`: prefixes from short to long, then the exact path. Reads the path once and allocates no string:
   * V8 would copy a `Map` key into its table of internalised strings first.
   * @returns their number
   */
  find(path: string, found: T[]): number {
    let count = 0
    let node: Node<T> | undefined = this.#root
    for (let start = 1; ; start++) {
      if (node.ofPrefix !== undefined) found[count++] = node.ofPrefix
      if (start > path.length) {
        // `*` has no segments, just as `/` has none.
        if (node.ofPath !== undefined && path.charCodeAt(0) === SLASH) found[count++] = node.ofPath
        return count
      }
      if (node.children === undefined) return count
      let hash = 0
      const segmentStart = start
      for (; start < path.length; start++) {
        const code = path.charCodeAt(start)
        if (code === SLASH) break
        hash = addToHash(hash, code)
      }
      node = node.children.get(hash)
      while (node !== undefined && !node.isAt(path, segmentStart, start)) node = node.sameHash
      if (node === undefined) return count
    }
  }

  #nodeOf(segments: readonly string[]): Node<T> {
    let node = this.#root
    for (const segment of segments) node = node.child(segment)
    return node
  }
}

const SLASH = 47

class Node<T> {
  readonly segment: string
  children: Map<number, Node<T>> | undefined
  /** Another child of the same parent whose segment has the same hash. */
  sameHash: Node<T> | undefined
  ofPrefix: T | undefined
  ofPath: T | undefined

  constructor(segment: string) {
    this.segment = segment
  }

  /** The child for a segment, created on first use. */
  child(segment: string): Node<T> {
    this.children ??= new Map()
    const hash = hashOf(segment)
    const first = this.children.get(hash)
    for (let node = first; node !== undefined; node = node.sameHash) if (node.segment === segment) return node
    const node = new Node<T>(segment)
    node.sameHash = first
    this.children.set(hash, node)
    return node
  }

  /** Whether `path[start, end)` is the segment of this node. */
  isAt(path: string, start: number, end: number): boolean {
    return this.segment.length === end - start && path.startsWith(this.segment, start)
  }
}

/** Hashes need no secret: only the configuration adds segments, so clients cannot cause collisions. */
function addToHash(hash: number, code: number): number {
  return (Math.imul(hash, 31) + code) | 0
}

function hashOf(segment: string): number {
  let hash = 0
  for (let i = 0; i < segment.length; i++) hash = addToHash(hash, segment.charCodeAt(i))
  return hash
}

/** `/a/b/` and `/a/b` are the same prefix; `/` has no segments. */
function prefixSegments(prefix: string): string[] {
  const trimmed = trimPrefix(prefix)
  return trimmed === '' ? [] : trimmed.slice(1).split('/')
}

/** Removes a trailing slash, which has no meaning in a prefix (Gateway API, PathPrefix). */
export function trimPrefix(prefix: string): string {
  return prefix.replace(/\/+$/, '')
}
