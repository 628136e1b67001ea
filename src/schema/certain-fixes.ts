import type { TSchema } from 'typebox'
import { parseJson } from '#base/parse-json.ts'
import { plainWord, replacementsIn } from '#base/products.ts'
import { isOneEditAway } from '#base/suggest.ts'
import { nodeOf, type SchemaNode } from './node.ts'
import { type Enclosing, placeOfField } from './place-of-field.ts'
import { fieldPath, itemPath } from './problem.ts'
import { fits, isValid } from './validate.ts'

/** A mistake in a value with only one possible correction. */
export interface CertainFix {
  /** Names and positions that lead to it. */
  readonly steps: readonly (string | number)[]
  /** The same as text. */
  readonly path: string
  /** The new name of the field; undefined: it keeps its name. */
  readonly name?: string
  /** What the value becomes; undefined: it stays. */
  readonly value?: ValueFix
}

/** `word`: another word of an enumeration; `list`: a list with the value as its only item; `text`: the same as text; `plain`: the number or boolean in the text. */
export type ValueFix = { readonly to: 'word'; readonly word: string } | { readonly to: 'list' | 'text' | 'plain' }

/**
 * Finds the mistakes that can be corrected without a doubt about what is meant: a field or a word of an enumeration one edit away from a
 * single one that is possible there, and scalars in the form of another type.
 */
export function certainFixes(schema: TSchema, value: unknown): readonly CertainFix[] {
  const fixes: CertainFix[] = []
  visit({ fixes, enclosing: [] }, nodeOf(schema), value, { steps: [], path: '' })
  return fixes
}

/** The fields of an object that are certainly mistakes, and the object as it is meant. */
export interface Mistaken {
  /** Paths as written: fields with one possible name. */
  readonly misspelt: readonly string[]
  /** Paths of names that other products use, for what is written in another form here. */
  readonly foreign: readonly string[]
  readonly meant: unknown
}

/** Like `certainFixes`, but a field is renamed whether its value fits or not. */
export function findMistaken(schema: TSchema, value: unknown): Mistaken {
  const fixes: CertainFix[] = []
  const mistaken = { misspelt: [], foreign: [] }
  visit({ fixes, enclosing: [], mistaken }, nodeOf(schema), value, { steps: [], path: '' })
  return { ...mistaken, meant: apply(fixes, value) }
}

interface Search {
  readonly fixes: CertainFix[]
  readonly enclosing: Enclosing[]
  /** Collects the paths of mistaken fields, which are then renamed whether their values fit or not. */
  readonly mistaken?: { readonly misspelt: string[]; readonly foreign: string[] }
}

interface Place {
  readonly steps: readonly (string | number)[]
  readonly path: string
}

function visit(search: Search, node: SchemaNode, value: unknown, at: Place): void {
  if (node.scalar === 'JSON') return
  if (node.type === 'array' && Array.isArray(value)) {
    for (const [index, item] of value.entries()) visit(search, node.items!, item, itemOf(at, index))
    return
  }
  if (node.type === 'object') return isObject(value) ? visitObject(search, node, value, at) : undefined
  const fix = isValid(node, value) ? undefined : valueFix(node, value)
  if (fix !== undefined) search.fixes.push({ ...at, value: fix })
}

type Fields = Readonly<Record<string, unknown>>

function visitObject(search: Search, node: SchemaNode, fields: Fields, at: Place): void {
  if (node.additionalProperties !== undefined) {
    for (const [key, member] of Object.entries(fields))
      visit(search, node.additionalProperties, member, itemOf(at, key))
    return
  }
  const { properties = {} } = node
  search.enclosing.push({ node, path: at.path, fields })
  const unknown = Object.keys(fields).filter((name) => !Object.hasOwn(properties, name))
  const meant = unknown.map((name) => meantField(search, node, fields, name))
  for (const [index, name] of unknown.entries()) {
    const field = meant[index]
    const place = fieldOf(at, name)
    if (field !== undefined) search.mistaken?.misspelt.push(place.path)
    else if (node.meanings?.[plainWord(name)] !== undefined) search.mistaken?.foreign.push(place.path)
    if (field === undefined || meant.indexOf(field) !== meant.lastIndexOf(field)) continue
    const fix = valueFor(properties[field]!, fields[name])
    if (fix !== undefined || search.mistaken !== undefined) search.fixes.push({ ...place, name: field, ...fix })
  }
  for (const [name, member] of Object.entries(fields)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (property !== undefined) visitField(search, property, member, fieldOf(at, name))
  }
  search.enclosing.pop()
}

/** One value is often written where a list of values is possible. */
function visitField(search: Search, node: SchemaNode, value: unknown, at: Place): void {
  if (node.type === 'array' && !Array.isArray(value)) {
    const fix = valueFor(node, value)
    if (fix?.value !== undefined) search.fixes.push({ ...at, value: fix.value })
  } else visit(search, node, value, at)
}

/** The change that a value needs to be possible for a field; undefined: no certain one. What is wrong within it can be corrected later. */
function valueFor(node: SchemaNode, value: unknown): Pick<CertainFix, 'value'> | undefined {
  if (fits(node, value)) return {}
  if (!isScalar(value)) return fits(node, corrected(node, value)) ? {} : undefined
  if (node.type === 'array') return isValid(node.items!, value) ? { value: { to: 'list' } } : undefined
  const fix = valueFix(node, value)
  return fix && { value: fix }
}

/** A copy with all certain corrections. */
function corrected(node: SchemaNode, value: unknown): unknown {
  const fixes: CertainFix[] = []
  visit({ fixes, enclosing: [] }, node, value, { steps: [], path: '' })
  return apply(fixes, value)
}

function apply(fixes: readonly CertainFix[], value: unknown): unknown {
  // What is further inside comes first: a new name changes the steps to it.
  return fixes
    .toSorted((a, b) => b.steps.length - a.steps.length)
    .reduce((before, fix) => withFix(before, fix.steps, fix), value)
}

function withFix(value: unknown, [step, ...more]: CertainFix['steps'], fix: CertainFix): unknown {
  if (step === undefined) return value
  if (Array.isArray(value)) return value.map((item, index) => (index === step ? changed(item, more, fix) : item))
  const members = Object.entries(value as Fields)
  return Object.fromEntries(
    members.map(([name, member]) =>
      name === step ? [more.length === 0 ? (fix.name ?? name) : name, changed(member, more, fix)] : [name, member],
    ),
  )
}

function changed(value: unknown, steps: CertainFix['steps'], fix: CertainFix): unknown {
  if (steps.length > 0) return withFix(value, steps, fix)
  switch (fix.value?.to) {
    case undefined:
      return value
    case 'word':
      return fix.value.word
    case 'list':
      return [value]
    case 'text':
      return String(value)
    case 'plain':
      return parseJson(String(value))
  }
}

/** Shorter names are too similar by chance. */
const SHORTEST = 4

/** The only field that a name can mean here, and that is possible besides the others. */
function meantField({ enclosing }: Search, node: SchemaNode, fields: Fields, name: string): string | undefined {
  const meaning = node.meanings?.[plainWord(name)]
  if (meaning !== undefined) return fieldOfMeaning(meaning, node, fields, fields[name])
  const found = Object.keys(node.properties ?? {}).filter(
    (field) => !Object.hasOwn(fields, field) && field.length >= SHORTEST && isSimilar(name, field),
  )
  const [field] = found
  if (field === undefined || found.length > 1 || isExcluded(node, fields, field)) return undefined
  const value = fields[name]
  const elsewhere = placeOfField({ name, value, fits: (other) => fits(other, value) }, enclosing)
  return elsewhere === undefined ? field : undefined
}

/** One edit apart, or a singular and its plural. */
function isSimilar(name: string, field: string): boolean {
  const [one, other] = [name.toLowerCase(), field.toLowerCase()]
  return isOneEditAway(one, other) || `${one}es` === other || one === `${other}es`
}

/** The field of this object that a word of another product stands for, if the advice is only to use its name; of several, the only one that the value fits. */
function fieldOfMeaning(meaning: string, node: SchemaNode, fields: Fields, value: unknown): string | undefined {
  const { properties = {} } = node
  const possible = replacementsIn(meaning).filter(
    (field) => Object.hasOwn(properties, field) && !Object.hasOwn(fields, field) && !isExcluded(node, fields, field),
  )
  const [field, ...others] =
    possible.length === 1 ? possible : possible.filter((each) => valueFor(properties[each]!, value) !== undefined)
  return others.length === 0 ? field : undefined
}

/** Another field of its group is set. */
function isExcluded({ groups = [] }: SchemaNode, fields: Fields, field: string): boolean {
  return groups.some(
    (group) =>
      group.count !== 'at-least-one' &&
      group.fields.includes(field) &&
      group.fields.some((other) => Object.hasOwn(fields, other)),
  )
}

function valueFix(node: SchemaNode, value: unknown): ValueFix | undefined {
  if (node.type === 'string' && typeof value === 'string') return wordFix(node, value)
  if (typeof value === 'string') {
    const plain = /^(?:-?\d+|true|false)$/.test(value) ? parseJson(value) : undefined
    return plain !== undefined && isValid(node, plain) ? { to: 'plain' } : undefined
  }
  const isPlain = typeof value === 'number' || typeof value === 'boolean'
  return node.type === 'string' && isPlain && isValid(node, String(value)) ? { to: 'text' } : undefined
}

function wordFix({ enum: words = [], meanings }: SchemaNode, value: string): ValueFix | undefined {
  const meaning = meanings?.[plainWord(value)]
  if (meaning !== undefined) {
    const [word, ...others] = replacementsIn(meaning).filter((each) => words.includes(each))
    return word === undefined || others.length > 0 ? undefined : { to: 'word', word }
  }
  const same = words.filter((word) => word.toLowerCase() === value.toLowerCase())
  const near = value.length < SHORTEST ? [] : words.filter((word) => isOneEditAway(value, word))
  const [word, ...others] = same.length === 1 ? same : near
  return word === undefined || others.length > 0 ? undefined : { to: 'word', word }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

function fieldOf({ steps, path }: Place, name: string): Place {
  return { steps: [...steps, name], path: fieldPath(path, name) }
}

function itemOf({ steps, path }: Place, key: number | string): Place {
  return { steps: [...steps, key], path: itemPath(path, key) }
}
