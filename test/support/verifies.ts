import { test } from 'vitest'
import type { REQUIREMENTS } from '#api/requirements/requirements.ts'

/** An id of `test/requirements.ts`. */
export type RequirementId = keyof typeof REQUIREMENTS

/**
 * Defines a test that proves one or more requirements of the specification. The coverage test reads these calls from the source text, so
 * ids must be literals.
 */
export function verifies(
  ids: RequirementId | readonly RequirementId[],
  name: string,
  run: () => void | Promise<void>,
): void {
  const list = typeof ids === 'string' ? [ids] : ids
  test(`${name} [${list.join(', ')}]`, run)
}
