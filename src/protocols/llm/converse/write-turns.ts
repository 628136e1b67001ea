import { asIs } from '../json/write-json.ts'
import type { ArrangedTurn } from '../translation/arranged-turns.ts'
import type { Part, TextPart } from '../translation/conversation.ts'
import type { CachePoints } from './cache-points.ts'
import type { ContentBlock, ConverseRequest, SystemBlock } from './wire.ts'
import type { PartsWriter } from './write-parts.ts'

type Message = NonNullable<ConverseRequest['messages']>[number]

export function writeSystem(texts: readonly TextPart[], points: CachePoints): SystemBlock[] {
  const blocks: SystemBlock[] = []
  for (const text of texts) {
    blocks.push({ text: asIs<string>(text.text) })
    points.mark(blocks, text)
  }
  if (blocks.length > 0) points.addToSystem(blocks)
  return blocks
}

export function writeMessages(turns: readonly ArrangedTurn[], parts: PartsWriter, points: CachePoints): Message[] {
  const messages = turns.map(({ role, parts: given, added }) => {
    return { role, content: added === undefined ? writeContent(role, given, parts, points) : [{ text: added }] }
  })
  points.addToMessages(messages)
  return messages
}

function writeContent(
  role: ArrangedTurn['role'],
  given: ArrangedTurn['parts'],
  parts: PartsWriter,
  points: CachePoints,
): ContentBlock[] {
  const content: ContentBlock[] = []
  for (const part of given) {
    content.push(parts.write(part, role))
    points.mark(content, part)
  }
  // The API refuses documents without a text.
  if (has(given, 'file') && !has(given, 'text')) content.unshift({ text: '...' })
  return content
}

function has(parts: ArrangedTurn['parts'], wanted: Part['kind']): boolean {
  return parts.some(({ kind }) => kind === wanted)
}
