import type { Mutant } from './mutate.ts'

/** A mutant that no test needs to notice. It is known by the text of its line, so that it stays known when lines move. */
export interface Accepted {
  /** Below `src/`. */
  readonly file: string
  /** The line, without the space around it. */
  readonly line: string
  readonly original: string
  readonly replacement: string
  readonly reason: string
}

export const ACCEPTED: readonly Accepted[] = []

/** @returns the entry for a mutant of `file`, whose text is `source` */
export function findAccepted(
  list: readonly Accepted[],
  file: string,
  source: string,
  mutant: Mutant,
): Accepted | undefined {
  const line = lineOf(source, mutant)
  return list.find(
    (one) =>
      one.file === file &&
      one.line === line &&
      one.original === mutant.original &&
      one.replacement === mutant.replacement,
  )
}

/** The line on which a mutant begins, without the space around it. */
export function lineOf(source: string, { line }: Mutant): string {
  return source.split('\n')[line - 1]!.trim()
}
