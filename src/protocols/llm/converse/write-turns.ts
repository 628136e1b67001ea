import { asIs } from '../json/write-json.ts'
import type { ArrangedTurn } from '../translation/arranged-turns.ts'
import type { Part, TextPart } from '../translation/conversation.ts'
import type { Loops } from '../translation/loops.ts'
import type { CachePoints } from './cache-points.ts'
import type { ContentBlock, ConverseRequest, SystemBlock } from './wire.ts'
import type { PartsWriter } from './write-parts.ts'

type Message = NonNullable<ConverseRequest['messages']>[number]

export function writeSystem(texts: readonly TextPart[], points: CachePoints, loops: Loops): SystemBlock[] {
  const blocks: SystemBlock[] = []
  loops.each(texts, (text) => {
    blocks.push({ text: asIs<string>(text.text) })
    points.mark(blocks, text)
  })
  loops.after(() => {
    if (blocks.length > 0) points.addToSystem(blocks)
  })
  return blocks
}

export function writeMessages(
  turns: readonly ArrangedTurn[],
  parts: PartsWriter,
  points: CachePoints,
  loops: Loops,
): Message[] {
  const messages: (Message & { readonly content: ContentBlock[] })[] = []
  loops.each(turns, ({ role, parts: given, added }) => {
    const content: ContentBlock[] = added === undefined ? [] : [{ text: added }]
    // The API refuses documents without a text.
    if (has(given, 'file') && !has(given, 'text')) content.push({ text: '...' })
    messages.push({ role, content })
    loops.each(given, (part) => {
      content.push(parts.write(part, role))
      points.mark(content, part)
    })
  })
  loops.after(() => points.addToMessages(messages))
  return messages
}

function has(parts: ArrangedTurn['parts'], wanted: Part['kind']): boolean {
  return parts.some(({ kind }) => kind === wanted)
}
