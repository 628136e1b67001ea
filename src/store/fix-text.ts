import { isMap, isScalar, isSeq, type Node, type Scalar } from 'yaml'
import { apiVersionOf, findKind, KINDS, type KindInfo } from '#api/kinds.ts'
import { toByteText } from '#base/byte-text.ts'
import { isOneEditAway } from '#base/suggest.ts'
import { type CertainFix, certainFixes, secretsIn } from '#schema/index.ts'
import { positionAt } from './yaml-faults.ts'
import { type Piece, readPieces } from './yaml-pieces.ts'

/** A correction that was made in a text. */
export interface MadeFix {
  readonly line: number
  readonly column: number
  /** `HTTPRoute default/shop`, as far as it is known. */
  readonly object: string
  readonly path: string
  /** What was done; it never has a value that may be a secret. */
  readonly message: string
}

export interface FixedText {
  readonly text: string
  readonly fixes: readonly MadeFix[]
}

/** What must not be shown of a text. */
export interface SecretText {
  /** Lines of Secrets, from 1. */
  readonly lines: ReadonlySet<number>
  /** Secrets in other objects, as byte text. */
  readonly values: readonly string[]
}

/** A correction can make the next one certain: first the kind, then a field, then what is in it. */
const MOST_PASSES = 50

/**
 * Corrects the mistakes of YAML or JSON text that have one possible correction. Everything else stays as it is, comments and formatting
 * included, and so does the number of lines. Text that does not parse is unchanged, and so is what an alias or a merge key leads to.
 */
export function fixText(text: string): FixedText {
  const fixes: MadeFix[] = []
  let fixed = text
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    const edits = editsIn(fixed)
    if (edits.length === 0) break
    fixes.push(...edits.map(({ made }) => made))
    fixed = apply(fixed, edits)
  }
  return { text: fixed, fixes }
}

/** The secrets in a text, whether its objects are valid or not. */
export function secretsInText(text: string): SecretText {
  const { pieces, lines } = readPieces(text)
  const values: string[] = []
  const hidden = new Set<number>()
  for (const { value, node, line } of pieces) {
    const kind = String(membersOf(value).kind)
    const info = findKind(kind)
    if (info !== undefined && kind !== 'Secret') values.push(...secretsIn(info.schema, '', value).map(toByteText))
    if (!SECRET.test(kind)) continue
    const last = positionAt(lines, node.range![1]).line
    for (let at = line; at <= last; at++) hidden.add(at)
  }
  return { lines: hidden, values }
}

/** Also one whose kind is misspelt. */
const SECRET = /^(?:List|.*secr.*|.*cret.*)$/i

interface Edit {
  readonly from: number
  readonly to: number
  readonly text: string
  readonly made: MadeFix
}

function apply(text: string, edits: readonly Edit[]): string {
  const sorted = edits.toSorted((a, b) => b.from - a.from)
  return sorted.reduce((before, { from, to, text: by }) => before.slice(0, from) + by + before.slice(to), text)
}

function editsIn(text: string): readonly Edit[] {
  const { pieces, faults, lines } = readPieces(text)
  if (faults.length > 0) return []
  return pieces.flatMap((piece) => {
    const object = nameOf(piece.value)
    return fixesOf(piece.value).flatMap((fix) => {
      const found = findField(piece, fix.steps)
      const changes = found === undefined ? [] : changesOf(found, fix)
      return changes.map(({ at, by, message }) => ({
        from: at.range![0],
        to: at.range![1],
        text: by,
        made: { ...positionAt(lines, at.range![0]), object, path: fix.path, message },
      }))
    })
  })
}

function nameOf(value: unknown): string {
  const { kind, metadata } = membersOf(value)
  const { namespace = 'default', name } = membersOf(metadata)
  return [kind, typeof name === 'string' ? `${namespace}/${name}` : undefined]
    .filter((part) => typeof part === 'string')
    .join(' ')
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}

/** The kind comes first: the fields of an object depend on it. */
function fixesOf(value: unknown): readonly CertainFix[] {
  const { apiVersion, kind } = membersOf(value)
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return []
  const info = findKind(kind)
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.lastIndexOf('/')) : ''
  if (info === undefined) {
    const meant = KINDS.filter((each) => each.group === group && isOneEditAway(kind, each.kind))
    return meant.length === 1 ? [wordFix('kind', meant[0]!.kind)] : []
  }
  if (info.versions.some((version) => apiVersionOf(info, version) === apiVersion))
    return certainFixes(info.schema, value)
  const meant = versionMeant(info, apiVersion, group)
  return meant === undefined ? [] : [wordFix('apiVersion', meant)]
}

function wordFix(field: string, word: string): CertainFix {
  return { steps: [field], path: field, value: { to: 'word', word } }
}

/** The only version of the kind, or a misspelt one. */
function versionMeant(info: KindInfo, apiVersion: string, group: string): string | undefined {
  const all = info.versions.map((version) => apiVersionOf(info, version))
  const near = all.filter((each) => info.group !== '' && isOneEditAway(apiVersion, each))
  if (info.own && group === info.group) return all[0]
  return near.length === 1 && group !== info.group ? near[0] : undefined
}

interface FoundField {
  readonly key: Scalar | undefined
  readonly value: Node | null
}

/** A field that is written where its path says; undefined: an alias or a merge key leads to it. */
function findField(piece: Piece, steps: readonly (string | number)[]): FoundField | undefined {
  let found: FoundField = { key: undefined, value: piece.node }
  for (const step of steps) {
    const next = childOf(found.value, step)
    if (next === undefined) return undefined
    found = next
  }
  return found
}

function childOf(node: Node | null, step: string | number): FoundField | undefined {
  if (isSeq(node)) {
    const item = node.items[Number(step)] as Node | undefined
    return item === undefined ? undefined : { key: undefined, value: item }
  }
  if (!isMap(node)) return undefined
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step)
  return pair === undefined ? undefined : { key: pair.key as Scalar, value: pair.value as Node | null }
}

interface Change {
  readonly at: Scalar
  readonly by: string
  readonly message: string
}

/** None if one of them cannot be made. */
function changesOf({ key, value }: FoundField, { name, value: fix }: CertainFix): readonly Change[] {
  const changes: Change[] = []
  if (name !== undefined) {
    if (key === undefined || !isOneLine(key)) return []
    changes.push({ at: key, by: spelled(name, key), message: `renamed ${key.value} to ${name}` })
  }
  if (fix === undefined) return changes
  if (!isScalar(value) || !isOneLine(value)) return []
  return [...changes, { at: value, ...valueChange(value, fix) }]
}

/** Block scalars and texts over several lines have forms of their own. */
function isOneLine(scalar: Scalar): boolean {
  const isInline = scalar.type === 'PLAIN' || scalar.type === 'QUOTE_DOUBLE' || scalar.type === 'QUOTE_SINGLE'
  return isInline && scalar.tag === undefined && scalar.range !== undefined && !sourceOf(scalar).includes('\n')
}

function sourceOf({ source, value }: Scalar): string {
  return source ?? String(value)
}

function valueChange(scalar: Scalar, fix: NonNullable<CertainFix['value']>): Omit<Change, 'at'> {
  const source = sourceOf(scalar)
  switch (fix.to) {
    case 'word':
      return { by: spelled(fix.word, scalar), message: `changed ${source} to ${fix.word}` }
    case 'plain':
      return { by: source, message: 'removed the quotes' }
    case 'text':
      return { by: JSON.stringify(source), message: 'added quotes' }
    case 'list':
      return { by: `[${JSON.stringify(scalar.value)}]`, message: 'made it a list' }
  }
}

/** In the quotes of the scalar that it replaces. Names of fields, kinds and words need no escapes. */
function spelled(word: string, { type }: Scalar): string {
  if (type === 'QUOTE_DOUBLE') return `"${word}"`
  return type === 'QUOTE_SINGLE' ? `'${word}'` : word
}
