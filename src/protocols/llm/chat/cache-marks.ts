import type { Conversation, Part, Tool } from './conversation.ts'
import type { Losses } from './losses.ts'
import type { ObjectReader } from './object-reader.ts'

/** Providers refuse more. */
const MAX_MARKS = 4

/** Whether a client of any API marked the prompt up to here as worth caching. How long is a loss. */
export function takeCacheMark(reader: ObjectReader, losses: Losses): true | undefined {
  const mark = reader.object('prompt_cache_breakpoint')
  mark?.take('mode')
  mark?.drop(losses)
  const control = takeCacheControl(reader, losses)
  return mark === undefined ? control : true
}

/** The same as the messages API has it; clients of chat completions use it, too. */
export function takeCacheControl(reader: ObjectReader, losses: Losses): true | undefined {
  const control = reader.object('cache_control')
  if (control === undefined) return undefined
  control.take('type')
  control.drop(losses)
  return true
}

/** The conversation with its last marks, as many as providers take: they cover the most. A mark within a result becomes one of the result. */
export function keepLastMarks(conversation: Conversation, losses: Losses): Conversation {
  const { tools, turns } = conversation
  const parts = turns.filter(({ role }) => role === 'system').concat(turns.filter(({ role }) => role !== 'system'))
  const marked: (Part | Tool)[] = [...tools, ...parts.flatMap((turn) => turn.parts)].filter(isMarked)
  if (marked.length === 0) return conversation
  const surplus = new Set(marked.slice(0, -MAX_MARKS))
  for (const { origin } of surplus) losses.drop(origin, `only ${MAX_MARKS} cache points are possible`)
  return {
    ...conversation,
    tools: tools.map((tool) => (surplus.has(tool) ? { ...tool, cached: undefined } : tool)),
    turns: turns.map((turn) => ({ ...turn, parts: turn.parts.map((part) => settled(part, surplus.has(part))) })),
  }
}

function isMarked(marked: Part | Tool): boolean {
  return marked.cached === true || ('kind' in marked && marked.kind === 'result' && marked.parts.some(isMarked))
}

function settled(part: Part, isSurplus: boolean): Part {
  if (!isMarked(part)) return part
  const cached = isSurplus ? undefined : true
  if (part.kind !== 'result') return { ...part, cached }
  return { ...part, cached, parts: part.parts.map((each) => ({ ...each, cached: undefined })) }
}
