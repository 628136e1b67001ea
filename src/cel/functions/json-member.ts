import { walkMembers } from '#base/json-text.ts'
import { skipSpace, skipValue } from '#base/skip-json.ts'

/**
 * Finds one member of the top-level object in a JSON text without parsing the rest: strings and brackets are skipped. Of duplicate names
 * the last one is used, as in `JSON.parse`. Skipped text is not validated.
 * @returns the range of the value, undefined if absent, `not-json` if the text is not a JSON object
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
