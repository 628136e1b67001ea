import { numberOf } from '../equality.ts'
import { CelError } from '../error.ts'
import { define, type Overload } from '../overload.ts'
import { Duration, HostObject, MapValue, Optional, type Result, Timestamp, type Value } from '../value.ts'

const EMPTY = new CelError('failed', 'optional.none() dereference')

/** Functions of optionals. `optMap` and `optFlatMap` are macros. */
export const OPTIONAL_FUNCTIONS: readonly Overload[] = [
  define('optional.of(A) -> optional_type(A)', (value: Value) => new Optional(value)),
  define('optional.ofNonZeroValue(A) -> optional_type(A)', (value: Value) =>
    isZero(value) ? Optional.none : new Optional(value),
  ),
  define('optional.none() -> optional_type(A)', () => Optional.none),
  define('optional.unwrap(list(optional_type(A))) -> list(A)', unwrap),
  define('(list(optional_type(A))).unwrapOpt() -> list(A)', unwrap),
  define('(optional_type(A)).hasValue() -> bool', (optional: Optional) => optional.value !== undefined),
  define('(optional_type(A)).value() -> A', (optional: Optional) =>
    optional.value === undefined ? EMPTY : optional.value,
  ),
  define('(optional_type(A)).or(optional_type(A)) -> optional_type(A)', (optional: Optional, other: Optional) =>
    optional.value === undefined ? other : optional,
  ),
  define('(optional_type(A)).orValue(A) -> A', (optional: Optional, other: Value) =>
    optional.value === undefined ? other : optional.value,
  ),
]

function unwrap(list: readonly Value[]): Result {
  return list.flatMap((optional) =>
    optional instanceof Optional && optional.value !== undefined ? [optional.value] : [],
  )
}

/** Whether a value is the zero value of its type. */
function isZero(value: Value): boolean {
  if (value === null || value === false || value === '') return true
  const number = numberOf(value)
  // biome-ignore lint/suspicious/noDoubleEquals: `==` compares bigint and number by value
  if (number !== undefined) return number == 0
  if (value instanceof MapValue) return value.size === 0
  if (value instanceof Uint8Array) return value.length === 0
  if (value instanceof Duration || value instanceof Timestamp) return value.seconds === 0 && value.nanos === 0
  if (value instanceof Optional) return value.value === undefined
  if (value instanceof HostObject) return value.isZero()
  return Array.isArray(value) && value.length === 0
}
