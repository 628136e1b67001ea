import { charge } from '../budget.ts'
import type { CelError } from '../error.ts'
import { type Implementation, type Overload, paramsFor } from '../overload.ts'
import type { Type } from '../type.ts'
import type { Value } from '../value.ts'
import { type FunctionWeight, weightOf } from '../weights.ts'

/**
 * Wraps an implementation, so that the sizes of its arguments are charged before it runs. Returns it unchanged if no argument has a
 * variable size. `limit` creates the error for exhausted steps.
 */
export function metered(
  overload: Overload,
  constants: readonly (Value | undefined)[],
  call: Implementation,
  limit: () => CelError,
): Implementation {
  const weight = weightOf(overload.name)
  const params = paramsFor(overload, constants.length)
  const isSized = (type: Type, i: number) => constants[i] === undefined && (weight.only ?? i) === i && mayBeLarge(type)
  if (!params.some(isSized)) return call
  const exceeded = limit()
  const sized = params.flatMap((type, i) => (isSized(type, i) && hasWeight(type, weight) ? [i] : []))
  const [first] = sized
  if (first === undefined) return call
  if (sized.length === 1 && first === 0 && params[0]!.kind === 'string' && params.length <= 2) {
    const { unit } = weight
    return (text, other) => {
      charge((text as string).length * unit, exceeded)
      return call(text!, other!)
    }
  }
  return (...values) => {
    let steps = 0
    for (const i of sized) steps += stepsFor(values[i]!, weight)
    charge(steps, exceeded)
    return call(...values)
  }
}

/** Whether a value of the type may be large. */
function mayBeLarge({ kind }: Type): boolean {
  return (
    kind === 'string' || kind === 'bytes' || kind === 'list' || kind === 'map' || kind === 'dyn' || kind === 'param'
  )
}

/** Whether the size of such an argument is charged before the call. */
function hasWeight({ kind }: Type, { unit, element }: FunctionWeight): boolean {
  if (kind === 'string' || kind === 'bytes') return unit > 0
  return kind === 'list' ? element > 0 : kind !== 'map' && (unit > 0 || element > 0)
}

function stepsFor(value: Value, { unit, element }: FunctionWeight): number {
  if (typeof value === 'string') return value.length * unit
  if (value instanceof Uint8Array) return value.length * unit
  return Array.isArray(value) ? value.length * element : 0
}
