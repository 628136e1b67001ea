/** `1 error`, `2 errors`. @param plural default: the word with an s */
export function count(number: number, word: string, plural = `${word}s`): string {
  return `${number} ${number === 1 ? word : plural}`
}
