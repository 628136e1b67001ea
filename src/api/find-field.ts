import { meaningsOfProviders, namesMeantBy, plainWord } from '#base/products.ts'
import { suggest } from '#base/suggest.ts'
import { nodeOf, type SchemaNode } from '#schema/index.ts'
import { KINDS, type KindInfo } from './kinds.ts'

/** A field of a kind; `path` is empty for the kind itself. */
export interface FoundField {
  readonly info: KindInfo
  /** Names from the object to the field, without list indexes: `spec`, `traffic`. */
  readonly path: readonly string[]
  readonly node: SchemaNode
  readonly isRequired: boolean
}

/** A path that names no field, and what it may mean. */
export interface UnknownField {
  readonly message: string
  readonly suggestion: string | undefined
}

/**
 * Finds a field by its path, such as `ProxyPolicy.spec.traffic.rateLimit.local[0].burst`. The kind may be in lower case, plural or a short
 * name. Indexes of lists may be left out.
 */
export function findField(text: string): FoundField | UnknownField {
  const [kind = '', ...names] = text.replace(/\[[^\]]*\]/g, '').split('.')
  const info = findKindByAnyName(kind)
  if (info === undefined) return unknownKind(kind, names)
  let found = topOf(info)
  for (const name of names) {
    const next = childrenOf(found).find(({ path }) => path.at(-1) === name) ?? entryOf(found, name)
    if (next === undefined) return unknownName(found, name)
    found = next
  }
  return found
}

/** A name in the API. */
export interface FoundName {
  readonly name: string
  /** The fields with that name, the uppermost first. */
  readonly fields: readonly FoundField[]
  /** The fields that may have that value. */
  readonly values: readonly FoundField[]
}

/** The products that a word may mean, such as `openai`, with all their places; empty for other words. */
export function findProducts(word: string): readonly FoundName[] {
  const names = namesMeantBy(word)
  if (names.length === 0) return []
  const all = KINDS.flatMap((info) => fieldsBelow(topOf(info))).toSorted((a, b) => a.path.length - b.path.length)
  // A field may have the name of a product itself: `aws`.
  return [...new Set([...names, word])].map((name) => ({
    name,
    fields: all.filter(({ path }) => path.at(-1) === name),
    values: all.filter(({ node }) => node.enum?.includes(name)),
  }))
}

function fieldsBelow(field: FoundField): readonly FoundField[] {
  return childrenOf(field).flatMap((child) => [child, ...fieldsBelow(child)])
}

function topOf(info: KindInfo): FoundField {
  return { info, path: [], node: nodeOf(info.schema), isRequired: true }
}

/** The fields of an object, or of the items of a list. */
export function childrenOf({ info, path, node }: FoundField): readonly FoundField[] {
  const { properties = {}, required = [] } = objectIn(node)
  return Object.entries(properties).map(([name, property]) => ({
    info,
    path: [...path, name],
    node: property,
    isRequired: required.includes(name),
  }))
}

/** The object that a field holds, directly or as the item of a list or the entry of a map. */
export function objectIn(node: SchemaNode): SchemaNode {
  const inner = node.items ?? node.additionalProperties
  return inner === undefined ? node : objectIn(inner)
}

/** The entry of a map, whose keys are arbitrary names; undefined if the field is not a map. */
function entryOf(field: FoundField, name: string): FoundField | undefined {
  const { items = field.node } = field.node
  if (items.additionalProperties === undefined || Object.keys(objectIn(items).properties ?? {}).length > 0) {
    return undefined
  }
  return { ...field, path: [...field.path, name], node: items.additionalProperties, isRequired: false }
}

function findKindByAnyName(name: string): KindInfo | undefined {
  const small = name.toLowerCase()
  return KINDS.find(
    ({ kind, plural, shortNames }) => kind.toLowerCase() === small || plural === small || shortNames.includes(small),
  )
}

function unknownKind(kind: string, names: readonly string[]): UnknownField {
  const meaning = meaningsOfProviders('ProxyBackend.spec.ai.provider.')[plainWord(kind)]
  if (meaning !== undefined) return { message: `unknown kind "${kind}": ${meaning}`, suggestion: undefined }
  const nearest = suggest(
    kind,
    KINDS.map((info) => info.kind),
  )
  const suggestion = nearest === undefined ? placeOf(kind) : nearest
  const rest = names.length === 0 || suggestion === undefined ? '' : `.${names.join('.')}`
  return {
    message: `unknown kind "${kind}"`,
    suggestion: suggestion === undefined ? undefined : `${suggestion}${rest}`,
  }
}

function unknownName(field: FoundField, name: string): UnknownField {
  const at = pathText(field)
  const meaning = objectIn(field.node).meanings?.[plainWord(name)]
  if (meaning !== undefined) return { message: `${at} has no field "${name}": ${meaning}`, suggestion: undefined }
  const nearest = suggest(
    name,
    childrenOf(field).map(({ path }) => path.at(-1)!),
  )
  return {
    message: `${at} has no field "${name}"`,
    suggestion: nearest === undefined ? placeOf(name, field.info) : `${at}.${nearest}`,
  }
}

/** Shorter words are similar to too many names. */
const SHORTEST_MISSPELLED = 6

/** The path of the uppermost field below `spec` of that name, or of the most similar one. */
function placeOf(word: string, only?: KindInfo): string | undefined {
  const kinds = only === undefined ? KINDS : [only]
  const all = kinds
    .flatMap((info) => fieldsBelow(topOf(info)))
    .filter(({ path }) => path[0] === 'spec')
    .toSorted((a, b) => a.path.length - b.path.length)
  const find = (name: string) => all.find(({ path }) => path.at(-1)!.toLowerCase() === name.toLowerCase())
  const names = word.length < SHORTEST_MISSPELLED ? [] : all.map(({ path }) => path.at(-1)!)
  const found = find(word) ?? find(suggest(word, names) ?? '')
  return found && pathText(found)
}

/** `ProxyPolicy.spec.traffic`. */
export function pathText({ info, path }: FoundField): string {
  return [info.kind, ...path].join('.')
}
