import { compare, numberOf } from '../equality.ts'
import { CelError } from '../error.ts'
import { type Int, toInt, toUint } from '../numbers.ts'
import { define, type Overload } from '../overload.ts'
import { Double, type Result, Uint, type Value } from '../value.ts'

const NEGATIVE_SHIFT = new CelError('invalid', 'negative shift')

/** The math extension, with `min` and `max` as short names of `math.least` and `math.greatest`. */
export const MATH_FUNCTIONS: readonly Overload[] = [
  ...['math.least', 'min'].flatMap((name) => extreme(name, -1)),
  ...['math.greatest', 'max'].flatMap((name) => extreme(name, 1)),
  define('math.ceil(double) -> double', (x: Double) => new Double(Math.ceil(x.value))),
  define('math.floor(double) -> double', (x: Double) => new Double(Math.floor(x.value))),
  define('math.trunc(double) -> double', (x: Double) => new Double(Math.trunc(x.value))),
  define('math.round(double) -> double', (x: Double) => new Double(roundHalfAway(x.value))),
  define('math.isNaN(double) -> bool', (x: Double) => Number.isNaN(x.value)),
  define('math.isInf(double) -> bool', (x: Double) => Math.abs(x.value) === Number.POSITIVE_INFINITY),
  define('math.isFinite(double) -> bool', (x: Double) => Number.isFinite(x.value)),
  define('math.abs(int) -> int', (x: Int) => (typeof x === 'number' ? Math.abs(x) : toInt(x < 0n ? -x : x))),
  define('math.abs(uint) -> uint', (x: Uint) => x),
  define('math.abs(double) -> double', (x: Double) => new Double(Math.abs(x.value))),
  define('math.sign(int) -> int', (x: Int) => (x > 0 ? 1 : x < 0 ? -1 : 0)),
  define('math.sign(uint) -> uint', (x: Uint) => new Uint(x.value === 0 ? 0 : 1)),
  define('math.sign(double) -> double', (x: Double) => new Double(Math.sign(x.value))),
  define('math.sqrt(int) -> double', (x: Int) => new Double(Math.sqrt(Number(x)))),
  define('math.sqrt(uint) -> double', (x: Uint) => new Double(Math.sqrt(Number(x.value)))),
  define('math.sqrt(double) -> double', (x: Double) => new Double(Math.sqrt(x.value))),
  ...bitwise('math.bitAnd', (a, b) => a & b),
  ...bitwise('math.bitOr', (a, b) => a | b),
  ...bitwise('math.bitXor', (a, b) => a ^ b),
  define('math.bitNot(int) -> int', (x: Int) => toInt(~BigInt(x))),
  define('math.bitNot(uint) -> uint', (x: Uint) => toUint(BigInt.asUintN(64, ~BigInt(x.value)))),
  define('math.bitShiftLeft(int, int) -> int', (x: Int, by: Int) =>
    shift(by, 0, () => toInt(BigInt.asIntN(64, BigInt(x) << BigInt(by)))),
  ),
  define('math.bitShiftLeft(uint, int) -> uint', (x: Uint, by: Int) =>
    shift(by, ZERO, () => toUint(BigInt.asUintN(64, BigInt(x.value) << BigInt(by)))),
  ),
  // A logical shift: the sign bit is shifted too.
  define('math.bitShiftRight(int, int) -> int', (x: Int, by: Int) =>
    shift(by, 0, () => toInt(BigInt.asIntN(64, BigInt.asUintN(64, BigInt(x)) >> BigInt(by)))),
  ),
  define('math.bitShiftRight(uint, int) -> uint', (x: Uint, by: Int) =>
    shift(by, ZERO, () => toUint(BigInt(x.value) >> BigInt(by))),
  ),
]

const ZERO = new Uint(0)

function shift(by: Int, none: Value, run: () => Result): Result {
  if (by < 0) return NEGATIVE_SHIFT
  return by >= 64 ? none : run()
}

function extreme(name: string, sign: 1 | -1): Overload[] {
  const pick = (...values: readonly Value[]): Result => pickExtreme(values, sign)
  const pickFromList = (values: readonly Value[]): Result => pickExtreme(values, sign)
  return [
    ...['int', 'uint', 'double'].flatMap((type) => [
      define(`${name}(${type}...) -> ${type}`, pick),
      define(`${name}(list(${type})) -> ${type}`, pickFromList),
    ]),
    define(`${name}(list(dyn)) -> dyn`, pickFromList, { fallback: true }),
    define(`${name}(dyn...) -> dyn`, pick, { fallback: true }),
  ]
}

function pickExtreme(values: readonly Value[], sign: 1 | -1): Result {
  const [first] = values
  if (first === undefined) return new CelError('invalid', 'no numbers to choose from')
  let best = first
  for (const value of values) {
    if (numberOf(value) === undefined) return new CelError('no-such-overload', 'no such overload: numbers expected')
    if (compare(value, best)! * sign > 0) best = value
  }
  return best
}

function roundHalfAway(x: number): number {
  const rounded = Math.round(Math.abs(x))
  const exact = Math.abs(x) > 2 ** 52 ? Math.abs(x) : rounded - Math.abs(x) > 0.5 ? rounded - 1 : rounded
  return x < 0 ? -exact : exact
}

function bitwise(name: string, apply: (a: bigint, b: bigint) => bigint): Overload[] {
  return [
    define(`${name}(int, int) -> int`, (a: Int, b: Int) => toInt(apply(BigInt(a), BigInt(b)))),
    define(`${name}(uint, uint) -> uint`, (a: Uint, b: Uint) => toUint(apply(BigInt(a.value), BigInt(b.value)))),
  ]
}
