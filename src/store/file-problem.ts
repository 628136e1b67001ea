import type { ConfigProblem } from '#base/config-problem.ts'
import { escapeInvisible } from '#base/visible-text.ts'

/** A position in a file; line and column start at 1. */
export interface FilePosition {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** A problem in a file, or of the file itself (empty path). */
export interface FileProblem extends ConfigProblem, FilePosition {
  /** The object that contains it, if known: `ProxyPolicy default/keys`. */
  readonly object?: string
}

/** One line for terminals and editors: `keys.yaml:12:7: error: spec.traffic.cors: unknown field ... [unknown-field]`; without position if there is no file. */
export function formatProblem({ file, line, column, severity, path, message, code }: FileProblem): string {
  // Names of files and fields may contain line breaks, which would look like further problems.
  const where = path === '' ? '' : `${escapeInvisible(path)}: `
  const at = file === '' ? '' : `${escapeInvisible(file)}:${line}:${column}: `
  return `${at}${severity}: ${where}${message} [${code}]`
}
