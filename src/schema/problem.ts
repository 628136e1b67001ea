import type { ConfigProblem } from '#base/config-problem.ts'
import type { FindingCode } from '#base/findings.ts'

/**
 * A problem of a field. The message is for the author of the object and says what is expected. It never contains the value of a free-text
 * field, which may be a secret.
 */
export function problem(
  path: string,
  code: FindingCode,
  message: string,
  severity: ConfigProblem['severity'] = 'error',
): ConfigProblem {
  return { path, code, message, severity }
}

/** The path of a named field of the object at `path`. */
export function fieldPath(path: string, field: string): string {
  return path === '' ? field : `${path}.${field}`
}

/** The path of a list item (by index) or of a map entry (by key). */
export function itemPath(path: string, key: number | string): string {
  return `${path}[${key}]`
}
