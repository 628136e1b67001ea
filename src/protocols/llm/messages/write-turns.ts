import type { ContentBlockParam, MessageParam } from '@anthropic-ai/sdk/resources/messages/messages'
import { asIs, type JsonText } from '../json/write-json.ts'
import type { ArrangedTurn } from '../translation/arranged-turns.ts'
import type { Part } from '../translation/conversation.ts'
import type { TargetNames } from '../translation/target-names.ts'
import { writeCall, writeContent, writeResult } from './write-parts.ts'

export function writeTurns(turns: readonly ArrangedTurn[], names: TargetNames): MessageParam[] {
  return turns.map(({ role, parts, added }) => {
    return { role, content: added ?? parts.map((part) => writePart(part, names)) }
  })
}

function writePart(part: Part, names: TargetNames): ContentBlockParam {
  switch (part.kind) {
    case 'result':
      return writeResult(part, names)
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
