/**
 * Prepares the parser of V8 so that it misreads the escaped keys of a text, if the running version has the bug (decision 0231). It compares
 * the spelling of a key, cut at its decoded length, with the keys of objects that it knows.
 *
 * @returns an object whose shape V8 must know while the text is parsed: keep it
 */
export function prepareMisreading(text: string): unknown {
  return JSON.parse(
    text.replace(STRING, (whole, literal: string, colon: string | undefined) => {
      if (colon === undefined) return whole
      const { length } = JSON.parse(literal) as string
      return JSON.stringify(literal.slice(1, length + 1)) + colon
    }),
  )
}

/** A string, and the colon if it is a key. */
const STRING = /("(?:[^"\\]|\\.)*")(\s*:)?/g
