import { compilePattern } from '#base/pattern.ts'
import { CelError, Double, Duration, define, type Overload, type Result, Timestamp, type Value } from '#cel/index.ts'

type List = readonly Value[]

const COMPARABLE = ['int', 'double', 'bool', 'string', 'duration', 'timestamp']
const EMPTY = new CelError('invalid', 'a list without items has no minimum and no maximum')

/** Functions that rules of Kubernetes have in addition to the library (Kubernetes, "CEL: Kubernetes list library", "regex library"). */
export const KUBERNETES_FUNCTIONS: readonly Overload[] = [
  ...COMPARABLE.flatMap((type) => [
    define(`(list(${type})).isSorted() -> bool`, isSorted),
    define(`(list(${type})).min() -> ${type}`, (list: List) => extreme(list, -1)),
    define(`(list(${type})).max() -> ${type}`, (list: List) => extreme(list, 1)),
  ]),
  define('(list(int)).sum() -> int', (list: readonly (number | bigint)[]) => sum(list)),
  define(
    '(list(double)).sum() -> double',
    (list: readonly Double[]) => new Double(list.reduce((total, { value }) => total + value, 0)),
  ),
  define('(list(string)).indexOf(string) -> int', (list: readonly string[], text: string) => list.indexOf(text)),
  define('(list(int)).indexOf(int) -> int', (list: List, item: Value) => list.indexOf(item)),
  define('(list(string)).lastIndexOf(string) -> int', (list: readonly string[], text: string) =>
    list.lastIndexOf(text),
  ),
  define('(list(int)).lastIndexOf(int) -> int', (list: List, item: Value) => list.lastIndexOf(item)),
  define('(string).find(string) -> string', find),
  define('(string).findAll(string) -> list(string)', (text: string, pattern: string) => findAll(text, pattern, -1)),
  define('(string).findAll(string, int) -> list(string)', findAll),
  define('isURL(string) -> bool', (text: string) => text.startsWith('/') || URL.canParse(text)),
]

function isSorted(list: List): boolean {
  return list.every((item, index) => index === 0 || compare(list[index - 1]!, item) <= 0)
}

function extreme(list: List, sign: 1 | -1): Result {
  const [first, ...rest] = list
  if (first === undefined) return EMPTY
  return rest.reduce<Value>((best, item) => (sign * compare(item, best) > 0 ? item : best), first)
}

function sum(list: readonly (number | bigint)[]): Result {
  const total = list.reduce((before: bigint, item) => before + BigInt(item), 0n)
  if (BigInt.asIntN(64, total) !== total) return new CelError('range', 'number out of range')
  return Number.isSafeInteger(Number(total)) ? Number(total) : total
}

/** Orders two values of the same type. */
function compare(a: Value, b: Value): number {
  const [x, y] = [orderOf(a), orderOf(b)]
  for (let i = 0; i < x.length; i++) if (x[i]! !== y[i]!) return x[i]! < y[i]! ? -1 : 1
  return 0
}

function orderOf(value: Value): readonly (number | bigint | string)[] {
  if (value instanceof Double) return [value.value]
  if (value instanceof Duration || value instanceof Timestamp) return [value.seconds, value.nanos]
  return [typeof value === 'boolean' ? Number(value) : (value as number | bigint | string)]
}

function find(text: string, pattern: string): Result {
  const found = findAll(text, pattern, 1)
  return found instanceof CelError ? found : (found[0] ?? '')
}

/** @param limit -1: all */
function findAll(text: string, pattern: string, limit: number | bigint): readonly string[] | CelError {
  const matcher = compilePattern(pattern)?.matcher(text)
  if (matcher === undefined) return new CelError('invalid', 'not a regular expression')
  const found: string[] = []
  while ((limit < 0 || found.length < limit) && matcher.find()) found.push(matcher.group() ?? '')
  return found
}
