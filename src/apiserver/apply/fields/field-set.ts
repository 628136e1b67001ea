import { compareElements, type PathElement } from './path-element.ts'

/**
 * A set of fields as a tree: the fields below an object or list, by path element. A field can be in the set itself (`own`), have fields below it
 * that are, or both; one of them at least. The root stands for the whole object and is never in the set.
 */
export interface FieldSet {
  readonly own: boolean
  readonly children: ReadonlyMap<PathElement, FieldSet>
}

/** A set that is being built. */
export interface FieldSetDraft extends FieldSet {
  own: boolean
  readonly children: Map<PathElement, FieldSetDraft>
}

const NONE: ReadonlyMap<PathElement, FieldSet> = new Map()
export const EMPTY: FieldSet = { own: false, children: NONE }

export function isEmpty({ children }: FieldSet): boolean {
  return children.size === 0
}

export function newDraft(): FieldSetDraft {
  return { own: false, children: new Map() }
}

/** Adds a field. The fields above it are not added. */
export function addField(set: FieldSetDraft, path: readonly PathElement[]): void {
  let node = set
  for (const element of path) {
    let child = node.children.get(element)
    if (child === undefined) {
      child = newDraft()
      node.children.set(element, child)
    }
    node = child
  }
  node.own = true
}

export function hasField(set: FieldSet, path: readonly PathElement[]): boolean {
  let node: FieldSet | undefined = set
  for (const element of path) node = node?.children.get(element)
  return node?.own === true
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || b.children.size === 0) return b.own && !a.own ? { own: true, children: a.children } : a
  const children = new Map(a.children)
  for (const [element, other] of b.children) {
    const child = children.get(element)
    children.set(element, child === undefined ? other : union(child, other))
  }
  return { own: a.own || b.own, children }
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return combined(a, a.own && b.own, (child, element) => {
    const other = b.children.get(element)
    return other === undefined ? EMPTY : intersection(child, other)
  })
}

/** The fields of `a` that are not in `b`. A field below one of `b` stays. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return combined(a, a.own && !b.own, (child, element) => {
    const other = b.children.get(element)
    return other === undefined ? child : difference(child, other)
  })
}

/** The fields of `a` that are neither in `b` nor below a field of `b`. */
export function differenceBelow(a: FieldSet, b: FieldSet): FieldSet {
  return combined(a, a.own && !b.own, (child, element) => {
    const other = b.children.get(element)
    if (other === undefined) return child
    return other.own ? EMPTY : differenceBelow(child, other)
  })
}

/** Children that have no field any more are left out. Unchanged sets are shared. */
function combined(set: FieldSet, own: boolean, childOf: (child: FieldSet, element: PathElement) => FieldSet): FieldSet {
  const changes: [PathElement, FieldSet][] = []
  for (const [element, child] of set.children) {
    const next = childOf(child, element)
    if (next !== child) changes.push([element, next])
  }
  if (changes.length === 0) return own === set.own ? set : { own, children: set.children }
  const children = new Map(set.children)
  for (const [element, next] of changes) {
    if (next.own || next.children.size > 0) children.set(element, next)
    else children.delete(element)
  }
  return { own, children }
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true
  if (a.own !== b.own || a.children.size !== b.children.size) return false
  for (const [element, child] of a.children) {
    const other = b.children.get(element)
    if (other === undefined || !equalSets(child, other)) return false
  }
  return true
}

/** The paths of all fields; those of a level before those below. */
export function pathsOf(set: FieldSet, above: readonly PathElement[] = []): readonly (readonly PathElement[])[] {
  const children = sortedChildren(set)
  const level = children.filter(([, { own }]) => own).map(([element]) => [...above, element])
  return [...level, ...children.flatMap(([element, child]) => pathsOf(child, [...above, element]))]
}

export function sortedChildren(set: FieldSet): readonly (readonly [PathElement, FieldSet])[] {
  return [...set.children].sort(([a], [b]) => compareElements(a, b))
}
