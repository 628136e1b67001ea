import { skipSpace, skipValue, walkMembers } from '#base/json-text.ts'

/**
 * Finds one member of the object a JSON text holds, without parsing the rest: strings and brackets are skipped over.
 * The last member of a name wins, as with `JSON.parse`. What is skipped is not checked any further.
 * @returns the range of the value, undefined when absent, `not-json` when the text is no JSON object
 */
export function findMember(text: string, name: string): { start: number; end: number } | undefined | 'not-json' {
  let found: { start: number; end: number } | undefined
  const end = walkMembers(text, skipSpace(text, 0), (key, start) => {
    const end = skipValue(text, start)
    if (key === name) found = { start, end }
    return end
  })
  return end < 0 ? 'not-json' : found
}
