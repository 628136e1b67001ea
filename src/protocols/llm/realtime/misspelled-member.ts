import { Pace, type Steps } from '#base/in-slices.ts'
import type { JsonValue } from '../json/json-document.ts'

/** Members that decide what an event does to the conversation. */
const DECIDING: ReadonlySet<string> = new Set([
  ...['type', 'item', 'item_id', 'previous_item_id', 'session', 'response'],
  ...['id', 'role', 'instructions', 'input'],
])

/** The work for a name. */
const WORK_PER_NAME = 16

/**
 * Finds a member that decides what an event does, and whose name is written in another case: some providers read it all the same, others do not, so that
 * nobody knows what the event does. Yields between members.
 * @returns its name
 */
export function* misspelledMember(event: JsonValue): Steps<string | undefined> {
  const pace = new Pace()
  const response = event.get('response')
  for (const value of [event, event.get('item'), event.get('session'), response]) {
    const found = yield* misspelledIn(value, pace)
    if (found !== undefined) return found
  }
  const input = response?.get('input')
  if (input?.kind !== 'array') return undefined
  const elements = input.children()
  for (let element = elements.next(); element !== undefined; element = elements.next()) {
    const found = yield* misspelledIn(element, pace)
    if (found !== undefined) return found
  }
  return undefined
}

function* misspelledIn(value: JsonValue | undefined, pace: Pace): Steps<string | undefined> {
  if (value?.kind !== 'object') return undefined
  const members = value.children()
  while (members.next() !== undefined) {
    const { name } = members
    if (!DECIDING.has(name) && DECIDING.has(name.toUpperCase().toLowerCase())) return name
    if (pace.after(WORK_PER_NAME)) yield
  }
  return undefined
}
