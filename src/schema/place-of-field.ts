import type { SchemaNode } from './node.ts'
import { fieldPath } from './problem.ts'

/** An object under validation, with its value. */
export interface Enclosing {
  readonly node: SchemaNode
  readonly path: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** A field that is unknown where it is written. */
export interface Misplaced {
  readonly name: string
  readonly value: unknown
  /** Whether the value is possible for a field. */
  readonly fits: (node: SchemaNode) => boolean
}

/** Where a misplaced field belongs. */
export interface Place {
  /** Path of the object; empty for the whole object. */
  readonly path: string
  /** The field of the innermost object that leads there, if there is one. */
  readonly through?: string
}

const MAX_DEPTH = 3

/**
 * The only object that a misplaced field can belong to. A required object that is missing comes first. It is often written with the
 * indentation of another object, so enclosing objects come next, then those within the innermost one, then, for objects and lists, those within the enclosing ones.
 * @param enclosing outermost first; the last one has the field
 */
export function placeOfField(field: Misplaced, enclosing: readonly Enclosing[]): Place | undefined {
  const outer = enclosing.slice(0, -1).reverse()
  const lacking = placeInMissing(field, enclosing.at(-1))
  if (lacking !== undefined) return lacking
  const around = outer.find(({ node, fields }) => isPlace(node, fields, field))
  if (around !== undefined) return { path: around.path }
  const [innermost] = enclosing.slice(-1)
  if (innermost === undefined) return undefined
  const within = placeWithin(innermost, field)
  if (within !== undefined || typeof field.value !== 'object') return within
  for (const each of outer) {
    const found = placeWithin(each, field)
    if (found !== undefined) return { path: found.path }
  }
  return undefined
}

/** An object has the field, and it is not set there. */
function isPlace(node: SchemaNode, fields: Readonly<Record<string, unknown>>, { name, fits }: Misplaced): boolean {
  const { properties = {} } = node
  return Object.hasOwn(properties, name) && !Object.hasOwn(fields, name) && fits(properties[name]!)
}

/** A required object that the innermost object does not have, such as `policy` of a conditional entry. */
function placeInMissing(field: Misplaced, innermost: Enclosing | undefined): Place | undefined {
  if (innermost === undefined) return undefined
  const { required = [], properties = {} } = innermost.node
  const name = required.find((each) => !Object.hasOwn(innermost.fields, each) && isPlace(properties[each]!, {}, field))
  return name === undefined ? undefined : { path: fieldPath(innermost.path, name), through: name }
}

interface Inner {
  readonly at: Enclosing
  readonly through: string | undefined
  /** The object is present in the value. */
  readonly isPresent: boolean
}

/** The only place at the first depth with places. Those in objects that are present take precedence; a text or number belongs only to them. */
function placeWithin(start: Enclosing, field: Misplaced): Place | undefined {
  let level: readonly Inner[] = [{ at: start, through: undefined, isPresent: true }]
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    level = level.flatMap(objectsIn)
    const places = level.filter(
      ({ at, isPresent }) => isPlace(at.node, at.fields, field) && (isPresent || isLarge(field)),
    )
    const present = places.filter(({ isPresent }) => isPresent)
    const [found, ...others] = present.length > 0 ? present : places
    if (found !== undefined) {
      return others.length > 0 ? undefined : { path: found.at.path, ...(found.through && { through: found.through }) }
    }
  }
  return undefined
}

function isLarge({ value }: Misplaced): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}

function objectsIn({ at, through, isPresent }: Inner): readonly Inner[] {
  return Object.entries(at.node.properties ?? {}).flatMap(([name, node]) => {
    if (node.properties === undefined) return []
    const value = at.fields[name]
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    const fields = isObject ? (value as Readonly<Record<string, unknown>>) : {}
    const inner = { node, path: fieldPath(at.path, name), fields }
    return [{ at: inner, through: through ?? name, isPresent: isPresent && isObject }]
  })
}
