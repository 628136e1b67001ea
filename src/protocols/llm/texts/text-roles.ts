import type { TextRole } from './body-texts.ts'

/** In whose name an item of the Responses API speaks. */
export function roleOfItem(role: string | undefined, type: string | undefined): TextRole {
  if (role !== undefined) return roleNamed(role)
  if (type === undefined) return 'user'
  // Items that are not messages are thoughts and calls, including calls of the provider's own tools with their results.
  return type.endsWith('_output') ? 'tool' : 'assistant'
}

const ROLES: Readonly<Record<string, TextRole>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
}

/** An unknown role counts as that of a user. */
export function roleNamed(role: string): TextRole {
  return Object.hasOwn(ROLES, role) ? ROLES[role]! : 'user'
}
