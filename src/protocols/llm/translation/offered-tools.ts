import { findMember, MAX_MEMBERS, scanMembers } from '../json/scan-members.ts'
import { asIs, JsonPieces, type JsonText } from '../json/write-json.ts'
import type { ModelFacts } from '../models/models.ts'
import type { Conversation, Tool } from './conversation.ts'

/** A JSON Schema, as strict providers take it for the input of a tool. */
export interface ObjectSchema {
  readonly type: 'object'
  readonly [keyword: string]: unknown
}

const NO_PARAMETERS: ObjectSchema = { type: 'object', properties: {} }
const ONE_TEXT: ObjectSchema = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] }

/** For a tool of which nothing is known but its calls. */
export const ANY_PARAMETERS: ObjectSchema = { type: 'object' }

/** The schema of the input of a tool: one with the type `object`. */
export function inputSchema({ takesText, parameters }: Tool): ObjectSchema {
  if (takesText) return ONE_TEXT
  if (parameters === undefined) return NO_PARAMETERS
  if (parameters instanceof JsonPieces) return asIs<ObjectSchema>(parameters)
  const members = scanMembers(parameters, MAX_MEMBERS)
  if ('fault' in members || findMember(members, 'type') >= 0) return asIs<ObjectSchema>(parameters)
  if (members.offsets.length === 0) return NO_PARAMETERS
  const rest = parameters.subarray(parameters.indexOf(OPEN_BRACE) + 1)
  return asIs<ObjectSchema>(new JsonPieces(['{"type":"object",', rest]))
}

const OPEN_BRACE = 0x7b

/** Strict providers take only objects as input of a call. */
export function inputObject(input: JsonText): object {
  return startsObject(input) ? asIs<object>(input) : { input: asIs<unknown>(input) }
}

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
