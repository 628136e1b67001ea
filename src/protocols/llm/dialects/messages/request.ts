import type { BodyEdits } from '../../json/edit-members.ts'
import { insertAt, insertElements } from '../../json/insert-elements.ts'
import type { Members } from '../../json/scan-members.ts'
import { encode } from '../../json/splice.ts'
import type { PromptMessageSpec } from '../../settings/policy-schema.ts'
import { isSystemRole, type PromptEnrichment, rangeOf } from '../../settings/prompt-enrichment.ts'
import { toMessage } from '../completions/request.ts'

/**
 * Adds the configured messages: system text to `system`, which becomes a list of text blocks, the others to the front and the end of
 * `messages` (decision B103).
 * @returns false if the request has no list of messages, or a `system` of another type
 */
export function enrichConversation(members: Members, prompt: PromptEnrichment, edits: BodyEdits): boolean {
  const range = rangeOf(members, 'messages')
  if (range === undefined || members.bytes[range.start] !== 0x5b) return false
  const isTurn = ({ role }: PromptMessageSpec) => !isSystemRole(role)
  const turns = insertElements(members.bytes, range, [
    [0, prompt.prepend.filter(isTurn).map(toMessage)],
    [Number.POSITIVE_INFINITY, prompt.append.filter(isTurn).map(toMessage)],
  ])
  edits.splice(turns)
  return enrichSystem(members, prompt, edits)
}

function enrichSystem(members: Members, prompt: PromptEnrichment, edits: BodyEdits): boolean {
  const before = systemBlocks(prompt.prepend)
  const after = systemBlocks(prompt.append)
  if (before.length + after.length === 0) return true
  const range = rangeOf(members, 'system')
  if (range === undefined) {
    edits.set('system', -1, encode(`[${[...before, ...after].join(',')}]`))
    return true
  }
  switch (members.bytes[range.start]) {
    case 0x5b:
      edits.splice(
        insertElements(members.bytes, range, [
          [0, before],
          [Number.POSITIVE_INFINITY, after],
        ]),
      )
      return true
    case 0x22:
      edits.splice([
        insertAt(range.start, `[${before.map((block) => `${block},`).join('')}{"type":"text","text":`),
        insertAt(range.end, `}${after.map((block) => `,${block}`).join('')}]`),
      ])
      return true
    default:
      return false
  }
}

function systemBlocks(messages: readonly PromptMessageSpec[]): string[] {
  return messages
    .filter(({ role }) => isSystemRole(role))
    .map(({ content }) => JSON.stringify({ type: 'text', text: content }))
}
