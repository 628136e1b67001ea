import { isRawNumber } from '#base/exact-json.ts'
import { countAt, textAt } from '../json/read-value.ts'

/** Members of an object by name; it has no prototype, so that any name is one. */
export type JsonMembers = Record<string, unknown>

/** These say what something is. In a stream, each piece may repeat them; other texts come in pieces. */
const CONSTANT: ReadonlySet<string> = new Set(['role', 'type', 'id', 'name', 'format', 'signature'])

/** A copy of an object to which members can be added. */
export function membersIn(value: unknown): JsonMembers {
  return Object.assign(Object.create(null), isObject(value) ? value : {}) as JsonMembers
}

/** Sets a member. @returns how many more units of text the object has */
export function setMember(target: JsonMembers, name: string, value: unknown): number {
  const old = target[name]
  target[name] = value
  if (old === value) return 0
  return old === undefined ? MEMBER + name.length + lengthOf(value) : Math.max(0, lengthOf(value) - lengthOf(old))
}

/** Memory overhead of a member. */
const MEMBER = 64

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : (JSON.stringify(value)?.length ?? 0)
}

/**
 * Adds a piece of an object that arrives in pieces, as the official clients do: texts are joined, lists are continued, and their elements with
 * the same `index` are one. Of anything else the last value counts that is not null.
 */
export function mergeMembers(target: JsonMembers, piece: unknown): void {
  for (const [name, value] of Object.entries(piece ?? {})) target[name] = merged(name, target[name], value)
}

function merged(name: string, old: unknown, value: unknown): unknown {
  if (value === null) return old ?? null
  if (Array.isArray(value)) {
    const list: unknown[] = Array.isArray(old) ? old : name === 'content' ? partsOf(old) : []
    for (const element of value) addElement(list, element)
    return list
  }
  if (isObject(value)) {
    const target = isObject(old) ? (old as JsonMembers) : membersIn({})
    mergeMembers(target, value)
    return target
  }
  if (Array.isArray(old) && name === 'content') return continueParts(old, value)
  if (typeof old !== 'string' || typeof value !== 'string' || old === '') return value
  if (CONSTANT.has(name)) return old
  // Base64 is padded at its end.
  if (name === 'data' && old.endsWith('=')) return joinBase64(old, value)
  return old + value
}

/** Some providers send thoughts as a list of parts, and then an answer as a text. */
function partsOf(text: unknown): unknown[] {
  return typeof text === 'string' && text !== '' ? [{ type: 'text', text }] : []
}

function continueParts(parts: unknown[], text: unknown): unknown[] {
  const last = parts.at(-1)
  if (typeof text === 'string' && textAt(last, 'type') === 'text' && typeof textAt(last, 'text') === 'string') {
    mergeMembers(last as JsonMembers, { text })
  } else parts.push(...partsOf(text))
  return parts
}

/** Some providers number all calls 0, and tell them apart by their ids. */
function addElement(list: unknown[], element: unknown): void {
  if (!isObject(element)) {
    list.push(element)
    return
  }
  const index = countAt(element, 'index')
  const id = textAt(element, 'id')
  const known =
    index === undefined
      ? undefined
      : list.findLast(
          (each) => countAt(each, 'index') === index && (!id || !textAt(each, 'id') || textAt(each, 'id') === id),
        )
  if (known !== undefined) return mergeMembers(known as JsonMembers, element)
  const added = membersIn({})
  mergeMembers(added, element)
  list.push(added)
}

/** Only the end of the first text is decoded: it may be long. */
function joinBase64(one: string, next: string): string {
  try {
    return one.slice(0, -4) + btoa(atob(one.slice(-4)) + atob(next))
  } catch {
    return one + next
  }
}

/** Neither a list nor a number that keeps its text. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !isRawNumber(value) && !Array.isArray(value)
}
