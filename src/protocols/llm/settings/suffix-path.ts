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

/**
 * Trailing white space, invisible characters, dots, separators, and percent-encoded bytes that encode no character. The match starts only where no
 * such character precedes it, so the search takes linear time.
 */
const BLANK_END = /(?<![\s/\\.\p{C}]|%[89a-f][\da-f])(?:[\s/\\.\p{C}]|%[89a-f][\da-f])+$/iu
/** Some servers ignore the form in which a client wants the answer. */
const FORM_END = /\.[a-z\d]{1,5}$/i

/**
 * What lenient providers may take a path in this form for: without regard to letter case, decoded as often as it is encoded, without white space,
 * or separators at the end, without parameters of its segments, and without a query or a fragment whose mark is encoded; also without a form at the
 * end (`.json`).
 */
export function lenientPaths(path: string): readonly string[] {
  const once = path.replace(/%(?:25)+(?=[0-9a-f]{2})/gi, '%')
  const bare = decodeEscapes(once)
    .replace(/[?#].*$/s, '')
    .replace(/;[^/]*/g, '')
    .replace(/\/{2,}/g, '/')
  const whole = bare.replace(BLANK_END, '')
  return [whole, whole.replace(FORM_END, '').replace(BLANK_END, '')].map(foldCase)
}

/** Upper case first: some letters have the upper case of another. */
export function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase()
}

/** Escapes that are no UTF-8 stay. */
export function decodeEscapes(path: string): string {
  return path.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes)
    } catch {
      return escapes
    }
  })
}

/** The matched form has no two slashes in a row. */
function withoutEnd(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}
