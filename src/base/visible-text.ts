/** Characters that terminals obey or do not show, and those that some readers take for the end of a line. */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu
const UNSEEN_IN_LINES = /(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu
const PRINTABLE_ASCII = /^[ -~]*$/

/** A text, or a JSON text, with escapes of JSON in the place of what terminals would obey or not show. */
export function escapeUnseen(text: string): string {
  return PRINTABLE_ASCII.test(text) ? text : text.replace(UNSEEN, escapeCharacter)
}

/** The same for a text of several lines, which keeps them. */
export function escapeUnseenInLines(text: string): string {
  return PRINTABLE_ASCII.test(text) ? text : text.replace(UNSEEN_IN_LINES, escapeCharacter)
}

function escapeCharacter(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}
