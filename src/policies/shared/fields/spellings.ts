import type { Head } from '#net/http/head.ts'
import { isSameName } from '#net/http/same-name.ts'

/**
 * The values of a field in all spellings of its name as one text, as `Head.joined`: a CGI-style server joins `x_user` and `x-user`, so whoever
 * judges for it must see both (decision A-134). @returns undefined if there is none
 */
export function joinedSpellings(head: Head, lowerName: string): string | undefined {
  const values: string[] = []
  head.each((name, value) => {
    if (isSameName(name, lowerName)) values.push(value)
  })
  return values.length === 0 ? undefined : values.join(lowerName === 'cookie' ? '; ' : ', ')
}
