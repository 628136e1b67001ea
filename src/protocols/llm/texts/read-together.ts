import type { TextRole, TextRun } from './body-texts.ts'

/** The formats whose answers guards check. */
export type AnswerFormat = 'Completions' | 'Messages' | 'Responses'

/** Of the message or item that a text of an answer belongs to. */
export type TextOwner = Pick<TextRun, 'role' | 'lasts'>

/**
 * The sequences of texts that a text of an answer belongs to: a client reads those of one sequence one after the other, in the order of
 * `compareTexts`. The same for whole answers and for streams.
 * @param path of a text that joins, in the whole answer
 */
export const SEQUENCES: Readonly<Record<AnswerFormat, (path: string, owner: TextOwner) => readonly string[]>> = {
  // Choices are different answers.
  Completions: (path) => /^choices\[\d+\]/.exec(path) ?? [],
  Messages: (path) => {
    if (/^content\[\d+\]\.thinking$/.test(path)) return ['thinking']
    const result = /^content\[\d+\](?:.*(?<!\.source))?\.content(?=[.[]|$)/.exec(path)
    return result === null ? ['content'] : [result[0], 'results']
  },
  Responses: (path, { role, lasts }) => {
    const [item] = /^output\[\d+\]/.exec(path) ?? []
    if (item === undefined) return []
    if (!lasts) return [item, role, `${role} thoughts`]
    // Without what a client may leave out.
    return [item, role, `${role} messages`, path.endsWith('.refusal') ? `${role} refusals` : `${role} texts`]
  },
}

/** Members in the order in which providers send them; all others are in the order in which they are found. */
const ORDER: ReadonlyMap<string, number> = new Map(
  ['reasoning_content', 'reasoning', 'thinking', 'summary', 'content', 'text', 'refusal', 'audio'].map((name, at) => [
    name,
    at,
  ]),
)

/** The order in which texts of one sequence are read, by their paths; 0: that in which they are found. */
export function compareTexts(one: string, other: string): number {
  const [ones, others] = [stepsOf(one), stepsOf(other)]
  for (let at = 0; at < ones.length && at < others.length; at++) {
    const [step, another] = [ones[at]!, others[at]!]
    if (step === another) continue
    const [index, next] = [Number(step), Number(another)]
    if (Number.isInteger(index) && Number.isInteger(next)) return index - next
    const [rank, rankOfOther] = [ORDER.get(step), ORDER.get(another)]
    return rank === undefined || rankOfOther === undefined ? 0 : rank - rankOfOther
  }
  return 0
}

function stepsOf(path: string): readonly string[] {
  return path.match(/[^.[\]]+/g) ?? []
}

/** In whose name an item of the Responses API speaks. */
export function ownerOfItem(role: string | undefined, type: string | undefined): TextOwner {
  if (role !== undefined) return { role: roleNamed(role), lasts: true }
  if (type === undefined) return { role: 'user', lasts: true }
  if (type.endsWith('_output')) return { role: 'tool', lasts: true }
  // Items that are not messages are thoughts and calls, including calls of the provider's own tools with their results.
  return { role: 'assistant', lasts: type === 'message' }
}

const ROLES: Readonly<Record<string, TextRole>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
}

/** Roles that are not known are those of a user. */
export function roleNamed(role: string): TextRole {
  return Object.hasOwn(ROLES, role) ? ROLES[role]! : 'user'
}
