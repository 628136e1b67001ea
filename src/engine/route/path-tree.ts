/**
 * Path prefixes by segment. `find` gives what stands on the way to a path, longest prefix first: `/api` is found for `/api`,
 * `/api/` and `/api/x`, not for `/apiary` (Gateway API, PathPrefix).
 */
export class PathTree<T> {
  readonly #root: Node<T> = { children: undefined, value: undefined }

  /** The value of a prefix, made on first use. */
  at(prefix: string, create: () => T): T {
    let node = this.#root
    for (const segment of segmentsOf(prefix)) {
      node.children ??= new Map()
      let next = node.children.get(segment)
      if (next === undefined) {
        next = { children: undefined, value: undefined }
        node.children.set(segment, next)
      }
      node = next
    }
    node.value ??= create()
    return node.value
  }

  /**
   * Puts the values along `path` into `found`, shortest prefix first.
   * @returns how many there are
   */
  find(path: string, found: T[]): number {
    let count = 0
    let node = this.#root
    if (node.value !== undefined) found[count++] = node.value
    let start = 1
    while (node.children !== undefined && start <= path.length) {
      const slash = path.indexOf('/', start)
      const end = slash < 0 ? path.length : slash
      const next = node.children.get(path.slice(start, end))
      if (next === undefined) break
      node = next
      if (node.value !== undefined) found[count++] = node.value
      start = end + 1
    }
    return count
  }
}

interface Node<T> {
  children: Map<string, Node<T>> | undefined
  value: T | undefined
}

/** `/a/b/` and `/a/b` are the same prefix; `/` has no segments. */
function segmentsOf(prefix: string): string[] {
  const trimmed = trimPrefix(prefix)
  return trimmed === '' ? [] : trimmed.slice(1).split('/')
}

/** A slash at the end of a prefix says nothing (Gateway API, PathPrefix). */
export function trimPrefix(prefix: string): string {
  return prefix.replace(/\/+$/, '')
}
