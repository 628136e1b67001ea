import { ApiError } from '../http/api-error.ts'

/** Levels of objects and lists. What is checked, compared and merged by recursion fits on the stack. */
const MAX_DEPTH = 1000

/**
 * Refuses values that are nested too deeply.
 * @throws ApiError BadRequest
 */
export function checkDepth(value: unknown): void {
  let level: readonly unknown[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH)
      throw new ApiError('BadRequest', `the body is nested too deeply: at most ${MAX_DEPTH} levels are allowed`)
    level = level.filter((each) => typeof each === 'object' && each !== null).flatMap((each) => Object.values(each!))
  }
}
