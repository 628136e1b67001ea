import { MapValue, Optional, type Value } from './value.ts'

/**
 * Elements that a value may have in all, parts that occur several times counted each time: a short expression can
 * build `[a, a]` of `[b, b]` of ..., which takes little memory and no end of time to print or compare.
 */
const MAX_ELEMENTS = 1_000_000

/** Whether a value has more elements than anybody should walk. Maps of the host count as one element. */
export function isTooLarge(value: Value): boolean {
  return countElements(value, MAX_ELEMENTS) < 0
}

/** @returns what is left of the allowance; negative when it did not suffice */
function countElements(value: Value, allowance: number): number {
  let left = allowance - 1
  if (Array.isArray(value)) {
    for (const element of value as readonly Value[]) {
      if (left < 0) return left
      left = countElements(element, left)
    }
  } else if (value instanceof MapValue && value.isBuilt) {
    for (const key of value.keys()) {
      if (left < 0) return left
      left = countElements(value.get(key) as Value, left)
    }
  } else if (value instanceof Optional && value.value !== undefined) return countElements(value.value, left)
  return left
}
