/** Comparison of the names of header fields, in place and without regard to case. */

/** Normalizes a name for servers that do not distinguish `_` and `-` (decision A-134). */
export function foldName(name: string): string {
  return name.toLowerCase().replaceAll('_', '-')
}

/** Whether two lower-case names are equal for servers that do not distinguish `_` and `-`, such as CGI (decision A-134). */
export function isSameName(name: string, lowerName: string): boolean {
  return name.length === lowerName.length && readsLike(name, 0, lowerName)
}

/** Like `equalsAt`, with `_` and `-` equal. */
export function readsLike(text: string, start: number, lowerName: string): boolean {
  for (let i = 0; i < lowerName.length; i++) {
    const wanted = lowerName.charCodeAt(i)
    const given = text.charCodeAt(start + i)
    if (given === wanted) continue
    if (isDash(wanted) ? !isDash(given) : !isSameLetter(given, wanted)) return false
  }
  return true
}

function isDash(code: number): boolean {
  return code === 45 || code === 95
}

/** Whether `text` contains `lowerName` at `start`, ignoring case. */
export function equalsAt(text: string, start: number, lowerName: string): boolean {
  for (let i = 0; i < lowerName.length; i++) {
    if (!isSameLetter(text.charCodeAt(start + i), lowerName.charCodeAt(i))) return false
  }
  return true
}

/** Compares characters of tokens, ignoring case. In that bit letters differ, and `^` from `~`. */
function isSameLetter(given: number, wanted: number): boolean {
  return given === wanted || ((given | 32) === wanted && wanted !== TILDE)
}

const TILDE = 126
