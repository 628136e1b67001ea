import { parseJson } from '#base/parse-json.ts'
import type { ListType } from './field-type.ts'
import { isMembers, ownMember } from './members.ts'

/**
 * One step of the path of a field, in the form of FieldsV1: `f:name` a member, `k:{"name":"x"}` an item by its keys, `v:"x"` an item of a set,
 * `i:0` an item by its index.
 */
export type PathElement = string

export function memberElement(name: string): PathElement {
  return `f:${name}`
}

/** The elements of the items of a list that is not atomic; undefined if some item cannot be identified. */
export function itemElements(type: ListType, items: readonly unknown[]): readonly PathElement[] | undefined {
  const elements: PathElement[] = []
  for (const item of items) {
    const element = type.keys.length === 0 ? setElement(item) : keyedElement(type, item)
    if (element === undefined) return undefined
    elements.push(element)
  }
  return elements
}

function setElement(item: unknown): PathElement | undefined {
  return typeof item === 'object' || item === undefined ? undefined : `v:${JSON.stringify(item)}`
}

/** Keys that the item leaves out, and that have no default, are not part of its identity. */
function keyedElement({ keys, defaults }: ListType, item: unknown): PathElement | undefined {
  if (!isMembers(item)) return undefined
  const present: [string, unknown][] = []
  for (const key of keys) {
    const value = ownMember(Object.hasOwn(item, key) ? item : defaults, key)
    if (value !== undefined) present.push([key, value])
  }
  return present.length === 0 ? undefined : keyElement(present)
}

function keyElement(keys: [string, unknown][]): PathElement {
  if (keys.length > 1) keys.sort(([a], [b]) => (a < b ? -1 : 1))
  return `k:${JSON.stringify(Object.fromEntries(keys))}`
}

/** The same element in the one form that is used here; undefined if it is of an unknown sort. */
export function canonicalElement(text: string): PathElement | undefined {
  const rest = text.slice(2)
  switch (text.slice(0, 2)) {
    case 'f:':
      return text
    case 'k:': {
      const keys = parseJson(rest)
      if (!isMembers(keys)) throw new SyntaxError(`not the keys of an item: ${text}`)
      return keyElement(Object.entries(keys))
    }
    case 'v:':
      return `v:${JSON.stringify(parseJson(rest))}`
    case 'i:':
      if (!/^[+-]?\d+$/.test(rest)) throw new SyntaxError(`not an index: ${text}`)
      return `i:${Number(rest)}`
    default:
      if (text.length < 2 || text[1] !== ':') throw new SyntaxError(`not a path element: ${text}`)
      return undefined
  }
}

const RANKS: Readonly<Record<string, number>> = { f: 0, k: 1, v: 2, i: 3 }

/** The order in which field sets are written and listed: members, items by key, items of sets. */
export function compareElements(a: PathElement, b: PathElement): number {
  const ranks = RANKS[a[0]!]! - RANKS[b[0]!]!
  return ranks !== 0 ? ranks : a < b ? -1 : a > b ? 1 : 0
}

/** The path of a field in messages: `.spec.ports[name="http"].port`. */
export function describePath(path: readonly PathElement[]): string {
  return path.map(describeElement).join('')
}

function describeElement(element: PathElement): string {
  const rest = element.slice(2)
  switch (element[0]) {
    case 'k': {
      const keys = Object.entries(parseJson(rest) as object)
      return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')}]`
    }
    case 'v':
      return `[=${rest}]`
    case 'i':
      return `[${rest}]`
    default:
      return `.${rest}`
  }
}
