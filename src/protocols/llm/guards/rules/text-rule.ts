import type { Match, SearchInSteps, TextScanner } from '#base/pattern/text-scanner.ts'

/** One rule of a regex guard: finds what must not pass in one text, whole or in pieces, with the same result. */
export interface TextRule {
  /** What replaces a match: `<masked>`, `<SSN>`. */
  readonly placeholder: string
  /** Names the rule in records: `matches[2]` or `Ssn`; never the text of a pattern. */
  readonly label: string
  matches(text: string): boolean
  /** All matches, ascending and without overlaps. */
  findMatches(text: string): readonly Match[]
  /** The same for a long text, without holding the thread: the caller lets others run between the steps. */
  findInSteps(text: string): SearchInSteps
  /** Finds matches in a text that arrives in pieces. */
  scan(): TextScanner
}

export const NO_MATCHES: readonly Match[] = []

/** Runs all steps at once. */
export function runSteps(steps: SearchInSteps): readonly Match[] {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
