import type { ConfigProblem } from '#base/config-problem.ts'
import { escapeUnseen } from '#base/visible-text.ts'

/** A place in a file; line and column count from 1. */
export interface FilePosition {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** Something wrong in a file, or with the file itself (path empty). */
export interface FileProblem extends ConfigProblem, FilePosition {
  /** The object it is in, when that is known: `ProxyPolicy default/keys`. */
  readonly object?: string
}

/** One line for terminals and editors: `keys.yaml:12:7: error: spec.traffic.cors: unknown field ... [unknown-field]`. What is in no file has no place. */
export function formatProblem({ file, line, column, severity, path, message, code }: FileProblem): string {
  // Names of files and fields may have line breaks, and would then look like further problems.
  const where = path === '' ? '' : `${escapeUnseen(path)}: `
  const at = file === '' ? '' : `${escapeUnseen(file)}:${line}:${column}: `
  return `${at}${severity}: ${where}${message} [${code}]`
}
