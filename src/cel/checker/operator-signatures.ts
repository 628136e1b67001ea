import { parseSignature, type Signature } from '../parse-type.ts'

const NUMERIC = ['int', 'uint', 'double']
const ORDERED = ['bool', 'string', 'bytes', 'timestamp', 'duration']

/** Signatures of the operators, for the checker; the compiler implements operators directly. */
export const OPERATORS: ReadonlyMap<string, readonly Signature[]> = groupByOperator([
  ['!', 'f(bool) -> bool'],
  ['-x', 'f(int) -> int'],
  ['-x', 'f(double) -> double'],
  ['?:', 'f(bool, A, A) -> A'],
  ['==', 'f(A, A) -> bool'],
  ['!=', 'f(A, A) -> bool'],
  ['in', 'f(A, list(A)) -> bool'],
  ['in', 'f(A, map(A, B)) -> bool'],
  ['[]', 'f(list(A), int) -> A'],
  ['[]', 'f(map(A, B), A) -> B'],
  ['[]', 'f(optional_type(list(A)), int) -> optional_type(A)'],
  ['[]', 'f(optional_type(map(A, B)), A) -> optional_type(B)'],
  ['[?]', 'f(list(A), int) -> optional_type(A)'],
  ['[?]', 'f(map(A, B), A) -> optional_type(B)'],
  ['[?]', 'f(optional_type(list(A)), int) -> optional_type(A)'],
  ['[?]', 'f(optional_type(map(A, B)), A) -> optional_type(B)'],
  ...NUMERIC.flatMap((type) => ['+', '-', '*', '/'].map((operator) => [operator, `f(${type}, ${type}) -> ${type}`])),
  ['%', 'f(int, int) -> int'],
  ['%', 'f(uint, uint) -> uint'],
  ['+', 'f(string, string) -> string'],
  ['+', 'f(bytes, bytes) -> bytes'],
  ['+', 'f(list(A), list(A)) -> list(A)'],
  ['+', 'f(timestamp, duration) -> timestamp'],
  ['+', 'f(duration, timestamp) -> timestamp'],
  ['+', 'f(duration, duration) -> duration'],
  ['-', 'f(timestamp, timestamp) -> duration'],
  ['-', 'f(timestamp, duration) -> timestamp'],
  ['-', 'f(duration, duration) -> duration'],
  ...['<', '<=', '>', '>='].flatMap((operator) => [
    ...ORDERED.map((type) => [operator, `f(${type}, ${type}) -> bool`]),
    ...NUMERIC.flatMap((a) => NUMERIC.map((b) => [operator, `f(${a}, ${b}) -> bool`])),
  ]),
] as [string, string][])

function groupByOperator(rows: readonly (readonly [string, string])[]): Map<string, Signature[]> {
  const groups = new Map<string, Signature[]>()
  for (const [operator, text] of rows) {
    const group = groups.get(operator) ?? []
    group.push(parseSignature(text))
    groups.set(operator, group)
  }
  return groups
}
