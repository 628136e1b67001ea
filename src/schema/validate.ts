import type { TSchema } from 'typebox'
import type { ConfigProblem, RefusedValue } from '#base/config-problem.ts'
import { count } from '#base/count.ts'
import type { FindingCode } from '#base/findings.ts'
import { type Meanings, nameWithProduct, plainWord } from '#base/products.ts'
import { related, suggest } from '#base/suggest.ts'
import { type FieldGroup, nodeOf, type ObjectRule, type Parsed, type SchemaNode } from './node.ts'
import { type Enclosing, placeOfField } from './place-of-field.ts'
import { fieldPath, itemPath, problem } from './problem.ts'

export interface ValidationOptions {
  /** Path of the value; a prefix of every reported path. */
  readonly path?: string
  /** Treatment of unknown fields of our own kinds (decision A-07); all except `refuse` drop them. */
  readonly unknownFields?: 'refuse' | 'warn' | 'ignore'
  /** The value is from a local file; from any other source, fields that only files may have are refused. */
  readonly fromFile?: boolean
}

export interface Validation<T> {
  /** The value with its schema defaults, if there is no error. */
  readonly value?: T
  readonly problems: readonly ConfigProblem[]
  /** Problems that do not invalidate the value: unknown fields that it is used without. */
  readonly tolerated: readonly ConfigProblem[]
}

/** One validation in progress. */
interface Run {
  readonly problems: ConfigProblem[]
  readonly tolerated: ConfigProblem[]
  readonly unknownFields: 'refuse' | 'warn' | 'ignore'
  readonly fromFile: boolean
  /** The objects that contain the current value, outermost first; undefined: hints are not read. */
  readonly enclosing: Enclosing[] | undefined
}

/** Validates a parsed JSON value against a schema and sets the schema defaults. Reports all problems at once; the input does not change. */
export function validate<S extends TSchema>(
  schema: S,
  value: unknown,
  options: ValidationOptions = {},
): Validation<Parsed<S>> {
  const { path = '', unknownFields = 'refuse', fromFile = false } = options
  const run: Run = { problems: [], tolerated: [], unknownFields, fromFile, enclosing: [] }
  const parsed = visit(run, nodeOf(schema), value, path)
  const { problems, tolerated } = run
  return problems.length > 0 ? { problems, tolerated } : { value: parsed as Parsed<S>, problems, tolerated }
}

function report(run: Run, path: string, code: FindingCode, message: string, refused?: RefusedValue): void {
  const found = problem(path, code, message)
  run.problems.push(refused === undefined ? found : { ...found, refused })
}

/** Returns the value with defaults; invalid parts are returned unchanged. */
function visit(run: Run, node: SchemaNode, value: unknown, path: string): unknown {
  if (node.scalar === 'JSON') return value
  if (node.intOrString) return visitIntOrString(run, node, value, path)
  switch (node.type) {
    case 'object':
      return visitObject(run, node, value, path)
    case 'array':
      return visitList(run, node, value, path)
    case 'string':
      return visitString(run, node, value, path)
    case 'integer':
      return visitNumber(run, node, value, path, 'a whole number', Number.isSafeInteger)
    case 'number':
      return visitNumber(run, node, value, path, 'a number', Number.isFinite)
    case 'boolean':
      if (typeof value !== 'boolean') report(run, path, 'wrong-type', wrongType('true or false', value))
      return value
    default:
      throw new Error(`schema without a type at ${path}`)
  }
}

function visitObject(run: Run, node: SchemaNode, value: unknown, path: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    report(run, path, 'wrong-type', wrongType(objectForm(node), value))
    return value
  }
  const fields = node.open ? withoutNulls(value) : (value as Record<string, unknown>)
  if (node.additionalProperties !== undefined) return visitMap(run, node, node.additionalProperties, fields, path)
  return visitFields(run, node, fields, path)
}

/** Kubernetes treats null in a field that is not nullable as an absent field. */
function withoutNulls(value: object): Record<string, unknown> {
  const members = Object.entries(value)
  if (!members.some(([, member]) => member === null)) return value as Record<string, unknown>
  return Object.fromEntries(members.filter(([, member]) => member !== null))
}

/** Sets a member as an own property, also if its name is `__proto__`. */
function setMember(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') target[name] = value
  else Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
}

function visitFields(run: Run, node: SchemaNode, fields: Record<string, unknown>, path: string): unknown {
  const properties = node.properties ?? {}
  const parsed: Record<string, unknown> = {}
  let failed: Set<string> | undefined
  let meant: readonly Hint[] | undefined

  run.enclosing?.push({ node, path, fields })
  for (const [name, member] of Object.entries(fields)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (property === undefined) {
      const hint = hintFor(run, node, name, fields)
      if (hint !== undefined && !hint.isElsewhere) meant = [...(meant ?? []), hint]
      if (keepsUnknown(run, node, name, path, hint)) setMember(parsed, name, member)
      continue
    }
    const before = run.problems.length
    if (property.filesOnly && !run.fromFile) {
      report(run, fieldPath(path, name), 'files-only', 'is allowed only in local files')
    }
    setMember(parsed, name, visit(run, property, member, fieldPath(path, name)))
    if (hasFailed(run, before)) failed = (failed ?? new Set()).add(name)
  }
  run.enclosing?.pop()
  if (isReplaced(node, fields)) {
    reportReplaced(run, node, fields, path)
  } else {
    setDefaults(parsed, properties, fields)
    // A misspelled field is one mistake: the report of its name says it.
    const refused = run.unknownFields === 'refuse' && !node.open ? (meant ?? NONE_MEANT) : NONE_MEANT
    for (const name of missing(node, fields)) {
      failed = (failed ?? new Set()).add(name)
      if (!refused.some(({ field }) => field === name)) report(run, fieldPath(path, name), 'required', 'is required')
    }
    for (const group of node.groups ?? []) {
      const isMeant = refused.some(({ field }) => field === undefined || group.fields.includes(field))
      checkGroup(run, group, fields, path, isMeant)
    }
  }
  for (const rule of applicableRules(node, fields)) runRule(run, rule, parsed, failed ?? NONE_FAILED, path)
  return parsed
}

const NONE_FAILED: ReadonlySet<string> = new Set()
const NONE_MEANT: readonly Hint[] = []

/** Whether a problem has been reported since a position, so that rules must not read the field. */
function hasFailed(run: Run, since: number): boolean {
  for (let at = since; at < run.problems.length; at++) if (run.problems[at]!.code !== 'unknown-field') return true
  return false
}

/** Whether the field that replaces all others of the object is present. */
function isReplaced(node: SchemaNode, fields: object): boolean {
  return node.insteadOf !== undefined && Object.hasOwn(fields, node.insteadOf)
}

function applicableRules(node: SchemaNode, fields: object): readonly ObjectRule[] {
  const rules = node.rules ?? []
  return isReplaced(node, fields) ? rules.filter((rule) => rule.reads.every((name) => name === node.insteadOf)) : rules
}

function setDefaults(
  parsed: Record<string, unknown>,
  properties: Readonly<Record<string, SchemaNode>>,
  fields: object,
): void {
  for (const name in properties) {
    const value = properties[name]!.default
    if (value === undefined || Object.hasOwn(fields, name)) continue
    setMember(parsed, name, typeof value === 'object' ? structuredClone(value) : value)
  }
}

function missing({ required = [] }: SchemaNode, fields: object): readonly string[] {
  return required.filter((name) => !Object.hasOwn(fields, name))
}

/** Longer lists of fields hide the message; `gatewright fields` shows them. */
const MOST_LISTED = 12
const MOST_RELATED = 3

function knownFields(name: string, { properties = {} }: SchemaNode): string {
  const names = Object.keys(properties)
  if (names.length === 0) return ', no fields are allowed here'
  if (names.length > MOST_LISTED) {
    const near = related(name, names, MOST_RELATED)
    if (near.length === 0) return `; gatewright fields lists the ${names.length} fields`
    return near.length === 1 ? `; a similar field is ${near[0]}` : `; similar fields are ${near.join(', ')}`
  }
  return names.length === 1 ? `; the only field is ${names[0]}` : `; the fields are ${names.join(', ')}`
}

/** What an unknown field name probably means: the text for messages, and the field if there is exactly one. */
interface Hint {
  readonly text: string
  readonly field?: string
  /** It means a field of an enclosing object. */
  readonly isElsewhere?: boolean
}

function hintFor(run: Run, node: SchemaNode, name: string, fields: Record<string, unknown>): Hint | undefined {
  const meaning = node.meanings?.[plainWord(name)]
  if (meaning !== undefined) return { text: `: ${meaning}` }
  // `{ message: Please, do not }`
  if (fields[name] === null && name.includes(' ')) return { text: '; a text with a comma must be in quotes here' }
  const place = placeOfField(
    { name, value: fields[name], fits: (field) => fits(field, fields[name]) },
    run.enclosing ?? [],
  )
  if (place !== undefined) {
    const where = place.path === '' ? 'at the top level of the object' : `in ${place.path}`
    const field = place.through === undefined ? { isElsewhere: true } : { field: place.through }
    return { text: `; it belongs ${where}`, ...field }
  }
  const known = Object.keys(node.properties ?? {})
  // Rather a field that is not set yet.
  const absent = known.filter((field) => !Object.hasOwn(fields, field))
  const field = suggest(name, absent) ?? suggest(name, known)
  return field === undefined ? undefined : { text: `, did you mean "${field}"?`, field }
}

/** Whether a value can be meant for a field: its form is right, and the names in it are known. */
export function fits(node: SchemaNode, value: unknown): boolean {
  return !problemsIn(node, value).some(({ code }) => NOT_FITTING.includes(code))
}

/** Whether a part of a file has no problem. */
export function isValid(node: SchemaNode, value: unknown): boolean {
  return problemsIn(node, value).length === 0
}

function problemsIn(node: SchemaNode, value: unknown): readonly ConfigProblem[] {
  const trial: Run = { problems: [], tolerated: [], unknownFields: 'refuse', fromFile: true, enclosing: undefined }
  visit(trial, node, value, '')
  return [...trial.problems, ...trial.tolerated]
}

const NOT_FITTING: readonly FindingCode[] = ['wrong-type', 'unknown-field', 'unknown-value']

/** @returns whether an unknown field stays in the value */
function keepsUnknown(run: Run, node: SchemaNode, name: string, path: string, hint: Hint | undefined): boolean {
  const found = (effect: string, severity: ConfigProblem['severity']) =>
    problem(fieldPath(path, name), 'unknown-field', `unknown field "${name}"${hint?.text ?? effect}`, severity)
  if (node.open) {
    run.tolerated.push(found(', it has no effect here', 'error'))
    return true
  }
  if (run.unknownFields === 'refuse') run.problems.push(found(knownFields(name, node), 'error'))
  if (run.unknownFields === 'warn') run.tolerated.push(found(', it has been dropped', 'warning'))
  return false
}

function reportReplaced(run: Run, node: SchemaNode, fields: Record<string, unknown>, path: string): void {
  for (const name of Object.keys(fields)) {
    if (name === node.insteadOf || !Object.hasOwn(node.properties ?? {}, name)) continue
    const message = `${node.insteadOf} cannot be set with any other field`
    report(run, fieldPath(path, name), 'conditional-exclusive', message)
  }
}

/** @param isMeant an unknown field is reported that probably stands for a field of the group */
function checkGroup(
  run: Run,
  group: FieldGroup,
  fields: Record<string, unknown>,
  path: string,
  isMeant: boolean,
): void {
  const set = group.fields.filter((name) => Object.hasOwn(fields, name))
  if (isMeant && set.length === 0) return
  const names = group.fields.map(nameWithProduct).join(', ')
  const given = set.length === 0 ? 'none is' : `${set.join(' and ')} are`
  if (group.count === 'exactly-one' && set.length !== 1) {
    const message =
      group.fields.length === 1 ? `${names} must be set` : `exactly one of ${names} must be set; ${given} set`
    report(run, path, 'exactly-one-of', message)
  }
  if (group.count === 'at-least-one' && set.length === 0) {
    const message = group.fields.length === 1 ? `${names} must be set` : `at least one of ${names} must be set`
    report(run, path, 'at-least-one-of', message)
  }
  if (group.count === 'at-most-one' && set.length > 1) {
    report(run, path, 'at-most-one-of', `at most one of ${names} may be set; ${given} set`)
  }
}

function runRule(run: Run, rule: ObjectRule, parsed: object, failed: ReadonlySet<string>, path: string): void {
  if (rule.reads.some((name) => failed.has(name))) return
  run.problems.push(...rule.check(parsed as never, path))
}

function visitMap(
  run: Run,
  node: SchemaNode,
  valueNode: SchemaNode,
  entries: Record<string, unknown>,
  path: string,
): unknown {
  checkCount(run, Object.keys(entries).length, { min: node.minProperties, max: node.maxProperties }, 'entry', path)
  const parsed: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(entries)) {
    setMember(parsed, key, visit(run, valueNode, member, itemPath(path, key)))
  }
  return parsed
}

function visitList(run: Run, node: SchemaNode, value: unknown, path: string): unknown {
  if (!Array.isArray(value)) {
    report(run, path, 'wrong-type', wrongType('a list', value))
    return value
  }
  checkCount(run, value.length, { min: node.minItems, max: node.maxItems }, 'item', path)
  const item = node.items!
  const parsed = value.map((member, index) => visit(run, item, member, itemPath(path, index)))
  if (node.uniqueBy !== undefined) reportDuplicates(run, node.uniqueBy, parsed, path)
  return parsed
}

function reportDuplicates(run: Run, keys: readonly string[], items: readonly unknown[], path: string): void {
  const seen = new Map<string, number>()
  items.forEach((item, index) => {
    const identity = keys.length === 0 ? item : keys.map((key) => (item as Record<string, unknown> | null)?.[key])
    // An item without its key is reported separately; it has no duplicates.
    if (Array.isArray(identity) && identity.includes(undefined)) return
    const text = JSON.stringify(identity)
    const first = seen.get(text)
    if (first === undefined) {
      seen.set(text, index)
      return
    }
    const what = keys.length === 0 ? 'the same value' : `the same ${keys.join(' and ')}`
    const at = itemPath(path, index)
    report(run, keys.length === 1 ? fieldPath(at, keys[0]!) : at, 'duplicate', `has ${what} as item ${first}`)
  })
}

function visitString(run: Run, node: SchemaNode, value: unknown, path: string): unknown {
  if (typeof value !== 'string') {
    report(run, path, 'wrong-type', wrongType(textForm(node), value))
    return value
  }
  const words = node.const === undefined ? node.enum : [String(node.const)]
  if (words !== undefined) {
    if (!words.includes(value)) reportUnknownValue(run, words, value, node.meanings, path)
    return value
  }
  if (checkLength(run, node, value, path)) checkScalar(run, node, value, path)
  return value
}

function visitNumber(
  run: Run,
  node: SchemaNode,
  value: unknown,
  path: string,
  what: string,
  isValid: (value: number) => boolean,
): unknown {
  if (typeof value !== 'number' || !isValid(value)) {
    report(run, path, 'wrong-type', wrongType(what, value))
    return value
  }
  const { minimum: min, maximum: max } = node
  if ((min !== undefined && value < min) || (max !== undefined && value > max)) {
    report(run, path, 'out-of-range', `must be ${boundsText(min, max)}`, { value })
  }
  return value
}

function visitIntOrString(run: Run, node: SchemaNode, value: unknown, path: string): unknown {
  if (typeof value !== 'string' && typeof value !== 'number') {
    report(run, path, 'wrong-type', wrongType('a whole number or a string', value))
    return value
  }
  if (typeof value === 'string' && !checkLength(run, node, value, path)) return value
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    report(run, path, 'wrong-type', 'must be a whole number or a string')
    return value
  }
  checkScalar(run, node, value, path)
  return value
}

function checkScalar(run: Run, node: SchemaNode, value: string | number, path: string): void {
  const refusal = node.check?.(value)
  if (refusal === undefined) return
  report(run, path, refusal.code, refusal.message, refusal.code === 'out-of-range' ? { value } : undefined)
}

/** @returns whether the length is within its bounds, counted in code points */
function checkLength(run: Run, node: SchemaNode, value: string, path: string): boolean {
  const { minLength: min = 0, maxLength: max = Number.POSITIVE_INFINITY } = node
  // The number of code points is between half the number of UTF-16 units and all of it, so counting is rarely needed.
  if (value.length >= min * 2 && value.length <= max) return true
  const length = codePoints(value)
  if (length < min) {
    const message = length === 0 ? 'must not be empty' : `must have at least ${count(min, 'character')}`
    report(run, path, 'too-short', message, length === 0 ? { value } : undefined)
    return false
  }
  if (length > max) {
    report(run, path, 'too-long', `must have at most ${count(max, 'character')}; it has ${length}`)
    return false
  }
  return true
}

function codePoints(value: string): number {
  let count = 0
  for (const _ of value) count++
  return count
}

interface CountBounds {
  readonly min: number | undefined
  readonly max: number | undefined
}

function checkCount(run: Run, number: number, { min, max }: CountBounds, what: 'item' | 'entry', path: string): void {
  const counted = (bound: number) => count(bound, what, what === 'entry' ? 'entries' : undefined)
  if (min !== undefined && number < min) {
    const message = number === 0 ? `must not be empty` : `must have at least ${counted(min)}`
    report(run, path, 'too-few-items', message, { value: number })
  }
  if (max !== undefined && number > max) {
    report(run, path, 'too-many-items', `must have at most ${counted(max)}; it has ${number}`)
  }
}

function boundsText(min: number | undefined, max: number | undefined): string {
  if (min === undefined) return `at most ${max}`
  if (max === undefined) return `at least ${min}`
  return `between ${min} and ${max}`
}

/** Longer values are no words. */
const MAX_SHOWN = 64

function reportUnknownValue(
  run: Run,
  words: readonly string[],
  value: string,
  meanings: Meanings | undefined,
  path: string,
): void {
  const meaning = meanings?.[plainWord(value)]
  const nearest = suggest(value, words)
  const guess = nearest === undefined ? '' : `, did you mean "${nearest}"?`
  const hint = meaning === undefined ? guess : `: ${meaning}`
  const message =
    words.length === 1
      ? `must be "${words[0]}"${hint}`
      : `must be one of ${words.map(nameWithProduct).join(', ')}${hint}`
  const shown = value.length > MAX_SHOWN ? undefined : { value, supported: words, ...(hint === '' ? {} : { hint }) }
  report(run, path, 'unknown-value', message, shown)
}

function wrongType(expected: string, value: unknown): string {
  const hint = typeof value === 'string' && isBare(value) ? ' (remove the quotes?)' : ''
  if (value === null) return `must be ${expected}, not null: leave the field out or give it a value`
  return `must be ${expected}, not ${typeText(value)}${hint}`
}

function textForm({ scalar }: SchemaNode): string {
  return scalar === 'Duration' || scalar === 'DurationOrCEL' ? 'a duration such as "5s"' : 'a string'
}

/** `an object with name`: a name alone is often written for a reference. */
function objectForm({ properties = {} }: SchemaNode): string {
  const names = Object.keys(properties)
  return names.length === 0 || names.length > MOST_LISTED ? 'an object' : `an object with ${names.join(', ')}`
}

/** A string that would be a number or a boolean without quotes. */
function isBare(value: string): boolean {
  return /^(?:-?\d+|true|false)$/.test(value)
}

function typeText(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'number' && !Number.isFinite(value)) return 'NaN or infinity'
  if (typeof value === 'number') return Number.isInteger(value) ? 'a number' : 'a number with a fraction'
  return `a ${typeof value}`
}
