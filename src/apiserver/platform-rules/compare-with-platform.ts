import { wrongType } from '../kinds/field-errors.ts'
import type { Cause, WrittenObject } from '../kinds/served-kind.ts'
import { fieldsOf, messageOf } from '../protobuf/messages.ts'

/** What the types of the platform say of an object. */
export interface Differences {
  readonly causes: readonly Cause[]
  /** Paths of members that the platform does not know. */
  readonly unknown: readonly string[]
}

const NONE: Differences = { causes: [], unknown: [] }

/** A number with an optional suffix, such as `500m` or `1.5Gi` (Kubernetes, "Quantity"). */
const QUANTITY = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/
const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/

const isText = (value: unknown): value is string => typeof value === 'string'
const isTime = (value: unknown) => isText(value) && TIME.test(value)
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What a scalar must be. */
const SCALARS: Readonly<Record<string, readonly [is: (value: unknown) => boolean, form: string]>> = {
  string: [isText, 'a string'],
  bool: [(value) => typeof value === 'boolean', 'a boolean'],
  int: [Number.isInteger, 'an integer'],
  bytes: [(value) => isText(value) && BASE64.test(value), 'a base64 string'],
  time: [isTime, 'a time (RFC 3339)'],
  microTime: [isTime, 'a time (RFC 3339)'],
  quantity: [(value) => typeof value === 'number' || (isText(value) && QUANTITY.test(value)), 'a quantity'],
  intOrString: [(value) => Number.isInteger(value) || isText(value), 'an integer or a string'],
  fields: [isObject, 'an object'],
  raw: [isObject, 'an object'],
}

/** Compares an object with the types of the platform, also in fields that this gateway does not read. Null is the same as no value. */
export function compareWithPlatform({ apiVersion, kind, ...members }: WrittenObject): Differences {
  const message = messageOf(apiVersion, kind)
  if (message === undefined) return NONE
  const problems = { causes: [] as Cause[], unknown: [] as string[] }
  checkMembers(message, members, '', problems)
  return problems
}

interface Problems {
  readonly causes: Cause[]
  readonly unknown: string[]
}

function checkMembers(message: string, members: Readonly<Record<string, unknown>>, at: string, problems: Problems) {
  for (const [name, value] of Object.entries(members)) {
    const path = at === '' ? name : `${at}.${name}`
    const type = typeOf(message, name)
    if (type === undefined) problems.unknown.push(path)
    else if (value !== null) checkValue(type, value, path, problems)
  }
}

/** Of a member, also one of a message whose members are part of this one. */
function typeOf(message: string, member: string): string | undefined {
  for (const [, name, type] of fieldsOf(message)) {
    if (name === member) return type
    const inner = name === '' ? typeOf(type, member) : undefined
    if (inner !== undefined) return inner
  }
  return undefined
}

function checkValue(type: string, value: unknown, path: string, problems: Problems): void {
  const refuse = (form: string) => void problems.causes.push(wrongType(path, value, `must be ${form}`))
  if (type.startsWith('*')) return checkValue(type.slice(1), value, path, problems)
  if (type.startsWith('[]') || type.startsWith('list:')) {
    if (!Array.isArray(value)) return refuse('a list')
    const of = type.startsWith('[]') ? type.slice(2) : itemType(type)
    for (const [index, item] of value.entries()) checkValue(of, item, `${path}[${index}]`, problems)
    return
  }
  if (type.startsWith('{}')) {
    if (!isObject(value)) return refuse('an object')
    for (const [key, member] of Object.entries(value)) checkValue(type.slice(2), member, `${path}[${key}]`, problems)
    return
  }
  const scalar = Object.hasOwn(SCALARS, type) ? SCALARS[type] : undefined
  if (scalar !== undefined) {
    const [is, form] = scalar
    return is(value) ? undefined : refuse(form)
  }
  if (!isObject(value)) return refuse('an object')
  checkMembers(type, value, path, problems)
}

/** Of a message that JSON has as a list. */
function itemType(type: string): string {
  const [, , items] = fieldsOf(type.slice('list:'.length)).find(([, name]) => name === 'items')!
  return items.slice(2)
}
