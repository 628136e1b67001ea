/** At the end of a text that was cut: what hides secrets looks for the beginning of one in front of it. */
export const ELLIPSIS = '\u2026'

/** The text with at most so many characters. */
export function cutText(text: string, maxLength: number): string {
  return text.length > maxLength ? text.slice(0, maxLength - 1) + ELLIPSIS : text
}
