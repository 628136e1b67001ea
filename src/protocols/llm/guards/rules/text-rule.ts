import type { SearchInSteps, TextScanner } from '#base/pattern/text-scanner.ts'

/** One rule of a regex guard: finds what must not pass in one text, whole or in pieces, with the same result. */
export interface TextRule {
  /** What replaces a match: `<masked>`, `<SSN>`. */
  readonly placeholder: string
  /** Names the rule in records: `matches[2]` or `Ssn`; never the text of a pattern. */
  readonly label: string
  /** Each match has digits as `mayHaveNumber` finds them. */
  readonly isNumeric: boolean
  /** By code point below 256: 1 if no match begins there. Undefined: this is not known. */
  readonly quiet: Uint8Array | undefined
  /** Finds all matches of a whole text, ascending and without overlaps. Undefined: there can be none. */
  search(text: string): SearchInSteps | undefined
  /** Finds matches in a text that arrives in pieces. */
  scan(): TextScanner
}
