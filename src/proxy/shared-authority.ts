import { ownText } from '#net/own-text.ts'

let last = ''

/** The same authority, in a string that requests in a row share and that keeps no other text in memory. */
export function sharedAuthority(authority: string): string {
  if (authority !== last) last = ownText(authority)
  return last
}
