/** Characters that control terminals or are invisible, and those that some readers treat as line ends. */
const INVISIBLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu
const INVISIBLE_IN_LINES = /(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu
const PRINTABLE_ASCII = /^[ -~]*$/

/** Replaces control characters and invisible characters by JSON escapes, in plain text or JSON text. */
export function escapeInvisible(text: string): string {
  return PRINTABLE_ASCII.test(text) ? text : text.replace(INVISIBLE, escapeCharacter)
}

/** Like `escapeInvisible`, but keeps line breaks. */
export function escapeInvisibleInLines(text: string): string {
  return PRINTABLE_ASCII.test(text) ? text : text.replace(INVISIBLE_IN_LINES, escapeCharacter)
}

function escapeCharacter(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}
