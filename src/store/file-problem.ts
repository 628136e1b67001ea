import type { ConfigProblem } from '#base/config-problem.ts'
import { escapeInvisible } from '#base/visible-text.ts'

/** A position in a file; line and column start at 1. */
export interface FilePosition {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** A problem in a file, or of the file itself (empty path). */
export interface FileProblem extends ConfigProblem {
  /** Empty if the problem is in no file. */
  readonly file: string
  /** Undefined if the problem is the file itself, or in no file. */
  readonly line?: number
  readonly column?: number
  /** The object that contains it, if known: `ProxyPolicy default/keys`. */
  readonly object?: string
}

/** Where to look: `keys.yaml:12:7`, or the file alone; undefined if there is no file. */
export function placeOf({ file, line, column }: FileProblem): string | undefined {
  if (file === '') return undefined
  return line === undefined || column === undefined ? file : `${file}:${line}:${column}`
}

/** One line for terminals and editors: `keys.yaml:12:7: error: spec.traffic.cors: unknown field ... [unknown-field]`; without place if there is no file. */
export function formatProblem(problem: FileProblem): string {
  const { at, severity, text, code } = problemParts(problem)
  return [at, severity, text, code].filter((part) => part !== '').join(' ')
}

/** The parts of that line, between which it has spaces; `at` is empty if there is no file. */
export function problemParts(problem: FileProblem): Readonly<Record<'at' | 'severity' | 'text' | 'code', string>> {
  const { severity, path, message, code } = problem
  // Names of files and fields may contain line breaks, which would look like further problems.
  const where = path === '' ? '' : `${escapeInvisible(path)}: `
  const place = placeOf(problem)
  return {
    at: place === undefined ? '' : `${escapeInvisible(place)}:`,
    severity: `${severity}:`,
    text: `${where}${message}`,
    code: `[${code}]`,
  }
}
