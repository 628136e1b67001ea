import type { Conversation, Part, RedactedPart, ThinkingPart, Turn } from './conversation.ts'
import type { Loops } from './loops.ts'
import type { Losses } from './losses.ts'

/**
 * A history can have thoughts of several providers, because a request may go to another one than the request before. No provider accepts
 * the signatures of another; of a thought of another one, only the text is kept. The result is complete when all loops have run.
 */
export function keepOwnThoughts(
  conversation: Conversation,
  provider: string,
  loops: Loops,
  losses: Losses,
): Conversation {
  const isForeign = (part: Part) => isThought(part) && !understands(provider, part)
  if (!conversation.turns.some(({ parts }) => parts.some(isForeign))) return conversation
  const turns: Turn[] = []
  loops.each(conversation.turns, (turn) => {
    const parts: Part[] = []
    turns.push({ ...turn, parts })
    loops.each(turn.parts, (part) => {
      if (!isForeign(part)) parts.push(part)
      else if (part.kind === 'thinking') parts.push({ ...part, signature: undefined })
      else losses.drop(part.origin, 'a thought of another provider')
    })
  })
  return { ...conversation, turns }
}

function isThought(part: Part) {
  return part.kind === 'thinking' || part.kind === 'redacted'
}

/** Models of the messages family have the same signatures on all platforms. */
const SAME_SIGNATURES: readonly string[] = ['messages', 'converse']

/** Whether the signatures of a provider are those of the messages API. */
export function sharesSignatures(provider: string): boolean {
  return SAME_SIGNATURES.includes(provider)
}

function understands(provider: string, thought: ThinkingPart | RedactedPart): boolean {
  const author = thought.provider
  if (author === undefined || author === provider) return true
  return thought.kind === 'thinking' && sharesSignatures(provider) && sharesSignatures(author)
}
