import type { BodyEdits } from '../../json/edit-members.ts'
import { insertAt } from '../../json/insert-elements.ts'
import type { Members } from '../../json/scan-members.ts'
import { encode } from '../../json/splice.ts'
import { type PromptEnrichment, rangeOf } from '../../settings/prompt-enrichment.ts'
import { enrichList, toMessage } from '../completions/request.ts'

/**
 * Adds the configured messages as items of `input`; a text input becomes an equivalent user message (decision B103).
 * @returns false if `input` is neither text nor a list
 */
export function enrichInput(members: Members, prompt: PromptEnrichment, edits: BodyEdits): boolean {
  const { prepend, append } = prompt
  const range = rangeOf(members, 'input')
  if (range === undefined) {
    edits.set('input', -1, encode(`[${[...prepend, ...append].map(toMessage).join(',')}]`))
    return true
  }
  if (members.bytes[range.start] !== 0x22) return enrichList(members, 'input', prompt, edits)
  edits.splice([
    insertAt(range.start, `[${prepend.map((message) => `${toMessage(message)},`).join('')}{"role":"user","content":`),
    insertAt(range.end, `}${append.map((message) => `,${toMessage(message)}`).join('')}]`),
  ])
  return true
}
