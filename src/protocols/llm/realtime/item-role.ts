import type { TextRole } from '../texts/body-texts.ts'

const ROLES: ReadonlyMap<string, TextRole> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
])

/** In whose name an item speaks. Items that are not messages are calls, and their results. */
export function roleOfItem(role: string | undefined, type: string | undefined): TextRole {
  if (role !== undefined) return ROLES.get(role) ?? 'user'
  if (type === undefined) return 'user'
  return type.endsWith('_output') ? 'tool' : 'assistant'
}
