import { asIs, JsonPieces, type JsonText } from '../json/write-json.ts'
import type { ModelFacts } from '../models/models.ts'
import type { Conversation } from './conversation.ts'

/** Strict providers take only objects as input of a call. */
export function inputObject(input: JsonText): object {
  return startsObject(input) ? asIs<object>(input) : { input: asIs<unknown>(input) }
}

const OPEN_BRACE = 0x7b

function startsObject(input: JsonText): boolean {
  const first = input instanceof JsonPieces ? input.pieces[0] : input
  return typeof first === 'string' ? first.startsWith('{') : first?.[0] === OPEN_BRACE
}

/** The tools that a history with calls needs if the client offers none any more. */
export function calledNames(turns: Conversation['turns']): readonly string[] {
  const names = new Set<string>()
  for (const { parts } of turns) for (const part of parts) if (part.kind === 'call') names.add(part.name)
  return [...names]
}

/** Whether the model must call a tool, as the model accepts it. */
export function isForced({ toolChoice }: Conversation, facts: ModelFacts): boolean {
  return (toolChoice?.kind === 'any' || toolChoice?.kind === 'tool') && !facts.refusesForcedTools
}
