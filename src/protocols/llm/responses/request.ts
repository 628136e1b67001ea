import { enrichList, toMessage } from '../completions/request.ts'
import { editMembers } from '../json/edit-members.ts'
import { insertAt } from '../json/insert-elements.ts'
import type { Members } from '../json/scan-members.ts'
import type { Splice } from '../json/splice.ts'
import { type PromptEnrichment, rangeOf } from '../prompt-enrichment.ts'

/**
 * Adds the configured messages as items of `input`; a plain text input becomes the message of the user that it stands for
 * (decision B103).
 * @returns undefined when `input` is neither text nor a list
 */
export function enrichInput(members: Members, prompt: PromptEnrichment): Splice[] | undefined {
  const { prepend, append } = prompt
  const range = rangeOf(members, 'input')
  if (range === undefined) {
    return editMembers(members, new Map([['input', `[${[...prepend, ...append].map(toMessage).join(',')}]`]]))
  }
  if (members.bytes[range.start] !== 0x22) return enrichList(members, 'input', prompt)
  const lead = prepend.map((message) => `${toMessage(message)},`).join('')
  const tail = append.map((message) => `,${toMessage(message)}`).join('')
  return [insertAt(range.start, `[${lead}{"role":"user","content":`), insertAt(range.end, `}${tail}]`)]
}
