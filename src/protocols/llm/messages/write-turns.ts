import type { ContentBlockParam, MessageParam } from '@anthropic-ai/sdk/resources/messages/messages'
import { asIs, type JsonText } from '../json/write-json.ts'
import type { ArrangedTurn } from '../translation/arranged-turns.ts'
import type { Part } from '../translation/conversation.ts'
import type { Loops } from '../translation/loops.ts'
import type { TargetNames } from '../translation/target-names.ts'
import { writeCall, writeContent, writeResult } from './write-parts.ts'

/** @returns a list that is complete when all loops have run */
export function writeTurns(turns: readonly ArrangedTurn[], names: TargetNames, loops: Loops): MessageParam[] {
  const messages: MessageParam[] = []
  loops.each(turns, ({ role, parts, added }) => {
    const content: ContentBlockParam[] = []
    messages.push({ role, content: added ?? content })
    loops.each(parts, (part) => content.push(writePart(part, names, loops)))
  })
  return messages
}

function writePart(part: Part, names: TargetNames, loops: Loops): ContentBlockParam {
  switch (part.kind) {
    case 'result':
      return writeResult(part, names, loops)
    case 'call':
      return writeCall(part, names)
    case 'thinking':
      return {
        type: 'thinking',
        thinking: asIs<string>(part.text),
        signature: asIs<string>(part.signature as JsonText),
      }
    case 'redacted':
      return { type: 'redacted_thinking', data: asIs<string>(part.data) }
    default:
      return writeContent(part)
  }
}
