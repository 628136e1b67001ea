/** One statement of the specification, in our words: one thing that a test can prove. */
export interface Requirement {
  /** The document of the specification. */
  readonly document: 1 | 2
  /** The number of the section in that document, such as `2.3.1`. */
  readonly section: string
  readonly text: string
  /** Nothing proves it yet, and we know. */
  readonly gap: boolean
}

/** A statement that at least one test cites. */
export function requirement(document: 1 | 2, section: string, text: string): Requirement {
  return { document, section, text, gap: false }
}

/** A statement that no test cites yet; it becomes a `requirement` with the first test that does. */
export function gap(document: 1 | 2, section: string, text: string): Requirement {
  return { document, section, text, gap: true }
}
