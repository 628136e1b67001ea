import type { ConfigProblem } from '#base/config-problem.ts'

/**
 * What can be wrong with a value, by stable code. Codes are API: pinned by a test, never renamed.
 * A code says which sort of rule was broken; the message says which rule and what to do.
 */
export const PROBLEM_CODES = [
  // shape
  'wrong-type',
  'required',
  'unknown-field',
  'unknown-value',
  // bounds
  'out-of-range',
  'too-short',
  'too-long',
  'too-few-items',
  'too-many-items',
  'duplicate',
  // text forms
  'invalid-duration',
  'invalid-byte-size',
  'invalid-header-name',
  'invalid-server-name',
  'invalid-section-name',
  'invalid-name',
  'invalid-namespace',
  'invalid-host',
  'invalid-path',
  'invalid-origin',
  'invalid-region',
  'invalid-identifier',
  'invalid-pattern',
  'invalid-base64',
  'invalid-quantity',
  // fields that belong, or do not belong, together
  'exactly-one-of',
  'at-least-one-of',
  'at-most-one-of',
  'conditional-exclusive',
  'conditional-order',
  'not-together',
  'inconsistent',
  // what a policy may be attached to
  'target-not-allowed',
  'target-kinds-mixed',
  'phase-not-allowed',
  // files and objects
  'invalid-yaml',
  'not-an-object',
  'unknown-kind',
  'unknown-version',
  'duplicate-object',
  'file-unreadable',
  'file-missing',
] as const

export type ProblemCode = (typeof PROBLEM_CODES)[number]

/**
 * A problem at a field. The message is for the author: it says what is expected. It never contains a value of a free text
 * field, which may be a secret.
 */
export function problem(
  path: string,
  code: ProblemCode,
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
