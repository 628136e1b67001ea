import type { PromptMessage } from '../ai-settings.ts'
import { toMessage } from '../completions/request.ts'
import { editMembers } from '../json/edit-members.ts'
import { insertAt, insertElements } from '../json/insert-elements.ts'
import type { Members } from '../json/scan-members.ts'
import type { Splice } from '../json/splice.ts'
import { isSystemRole, type PromptEnrichment, rangeOf } from '../prompt-enrichment.ts'

/**
 * Adds the configured messages: system text goes into `system`, which becomes a list of text blocks, the others to the front and
 * the end of `messages` (decision B103).
 * @returns undefined when the request has no list of messages, or a `system` of another type
 */
export function enrichConversation(members: Members, prompt: PromptEnrichment): Splice[] | undefined {
  const range = rangeOf(members, 'messages')
  if (range === undefined || members.bytes[range.start] !== 0x5b) return undefined
  const isTurn = ({ role }: PromptMessage) => !isSystemRole(role)
  const turns = insertElements(members.bytes, range.start, range.end, [
    [0, prompt.prepend.filter(isTurn).map(toMessage)],
    [Number.POSITIVE_INFINITY, prompt.append.filter(isTurn).map(toMessage)],
  ])
  const system = enrichSystem(members, prompt)
  return system === undefined ? undefined : [...system, ...turns]
}

function enrichSystem(members: Members, prompt: PromptEnrichment): Splice[] | undefined {
  const before = systemBlocks(prompt.prepend)
  const after = systemBlocks(prompt.append)
  if (before.length + after.length === 0) return []
  const range = rangeOf(members, 'system')
  if (range === undefined) return editMembers(members, new Map([['system', `[${[...before, ...after].join(',')}]`]]))
  const { start, end } = range
  const first = members.bytes[start]
  if (first === 0x5b) {
    return insertElements(members.bytes, start, end, [
      [0, before],
      [Number.POSITIVE_INFINITY, after],
    ])
  }
  if (first !== 0x22) return undefined
  const lead = before.map((block) => `${block},`).join('')
  const tail = after.map((block) => `,${block}`).join('')
  return [insertAt(start, `[${lead}{"type":"text","text":`), insertAt(end, `}${tail}]`)]
}

function systemBlocks(messages: readonly PromptMessage[]): string[] {
  return messages
    .filter(({ role }) => isSystemRole(role))
    .map(({ content }) => JSON.stringify({ type: 'text', text: content }))
}
