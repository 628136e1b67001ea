import { matchedPath, matchedPathOf } from '#net/http/path-form.ts'

/**
 * The form in which suffixes and paths are compared: the matched form (decision A-51) without slashes at the end, because providers
 * answer `/v1/chat/completions/` like the path without.
 */
export function suffixPath(path: string): string {
  return withoutEnd(matchedPath(path))
}

/** @param target path, or path and query */
export function suffixPathOf(target: string): string {
  return withoutEnd(matchedPathOf(target))
}

/** White space and separators at the end. It begins where none is before it, so that the search is linear. */
const BLANK_END = /(?<!\s|\/|%0[9-d]|%20|%2f|%5c)(?:\s|\/|%0[9-d]|%20|%2f|%5c)+$/i

/**
 * What a lenient provider may take a path in this form for: without regard to letter case, decoded once more, without white space or
 * separators at the end, and without a query or a fragment whose mark is encoded.
 */
export function lenientPath(path: string): string {
  const once = matchedPath(path.replace(/%25(?=[0-9a-f]{2})/gi, '%'))
  return once
    .replace(/(?:%3f|%23).*$/is, '')
    .replace(BLANK_END, '')
    .toLowerCase()
}

/** The matched form has no two slashes in a row. */
function withoutEnd(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}
