import { getConformanceSuite, getParsingSuite, type IncrementalTestSuite } from '@bufbuild/cel-spec/testdata/tests.js'
import fc from 'fast-check'
import { anyCharacter } from '#test/support/any-character.ts'

function* sourcesIn(suite: IncrementalTestSuite): Iterable<string> {
  for (const test of suite.tests) yield test.original.expr
  for (const inner of suite.suites) yield* sourcesIn(inner)
}

/** Expressions of the official data, without the very long ones. */
export const CORPUS: readonly string[] = [...sourcesIn(getConformanceSuite()), ...sourcesIn(getParsingSuite())].filter(
  (source) => source.length < 400,
)

/** Pieces that mean something to the parser. */
const PIECES = [
  ...'()[]{}.,:?!-+*/%<>=&|`"\'\\@$#\n',
  ...[
    '&&',
    '||',
    '==',
    '!=',
    '<=',
    '>=',
    ' in ',
    '//',
    '"""',
    'r"',
    "b'",
    '0x',
    '1e',
    '9223372036854775807',
    '1u',
    '1.5',
  ],
  ...[
    'true',
    'null',
    'has(',
    'a.b',
    '.all(x, ',
    '.map(y, ',
    '.?',
    '[?',
    'cel.bind(z, ',
    '.with(w, ',
    'default(',
    'é',
    '😀',
    '\ud800',
  ],
]

const piece = fc.constantFrom(...PIECES)

/** One change of a text: at `at` (a fraction of its length) `remove` units make way for `insert`. */
const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  remove: fc.nat(4),
  insert: fc.oneof(fc.constant(''), piece),
})

/** Anything from an expression of the data with some damage to a jumble. */
export const sourceText: fc.Arbitrary<string> = fc.oneof(
  { arbitrary: fc.constantFrom(...CORPUS), weight: 1 },
  fc.string({ unit: anyCharacter, maxLength: 60 }),
  fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
  fc
    .tuple(fc.constantFrom(...CORPUS), fc.array(edit, { maxLength: 3 }))
    .map(([source, edits]) => edits.reduce(applyEdit, source)),
)

function applyEdit(text: string, { at, remove, insert }: { at: number; remove: number; insert: string }): string {
  const index = Math.floor(at * text.length)
  return text.slice(0, index) + insert + text.slice(index + remove)
}

/** An expression with the result that another way of computing gives; `undefined` stands for an error. */
export interface Solved<T> {
  readonly source: string
  readonly value: T | undefined
}

const INT_MIN = -(2n ** 63n)
const INT_MAX = 2n ** 63n - 1n

function inRange(value: bigint, min: bigint, max: bigint): bigint | undefined {
  return value < min || value > max ? undefined : value
}

const BIG_OPERATORS: Readonly<Record<string, (a: bigint, b: bigint) => bigint | undefined>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => (b === 0n ? undefined : a / b),
  '%': (a, b) => (b === 0n ? undefined : a % b),
}

/** Integers that like the edges: of int64, of doubles, of zero. */
function integer(min: bigint, max: bigint): fc.Arbitrary<bigint> {
  const edges = [min, max, 0n, 1n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 32n, 2n ** 31n]
  return fc.oneof(
    fc.constantFrom(...edges),
    fc.bigInt({ min, max }),
    fc.bigInt({ min: min < -20n ? -20n : min, max: 20n }),
  )
}

function integerTree(min: bigint, max: bigint, suffix: string): fc.Arbitrary<Solved<bigint>> {
  const leaf = integer(min, max).map((value) => ({ source: `${value}${suffix}`, value }))
  return fc.letrec<{ tree: Solved<bigint> }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      fc.tuple(fc.constantFrom(...Object.keys(BIG_OPERATORS)), tie('tree'), tie('tree')).map(([operator, a, b]) => ({
        source: `(${a.source}) ${operator} (${b.source})`,
        value: combine(operator, a.value, b.value, min, max),
      })),
    ),
  })).tree
}

function combine(
  operator: string,
  a: bigint | undefined,
  b: bigint | undefined,
  min: bigint,
  max: bigint,
): bigint | undefined {
  if (a === undefined || b === undefined) return undefined
  const value = BIG_OPERATORS[operator]!(a, b)
  return value === undefined ? undefined : inRange(value, min, max)
}

/** Conditions about `m`, `s`, `n` and `l`, some of which look after what may be missing. */
const guardedAtom = fc.constantFrom(
  ...[
    'has(m.k)',
    'm.k == 1',
    '"k" in m',
    'm["k"] == 1',
    'm.?k.orValue(0) == 1',
    'm[?"k"].hasValue()',
    'm.?k.value() == 1',
  ],
  ...[
    'default(m.k, 0) == 1',
    'coalesce(m.k, 0) == 1',
    'm.d.j == 1',
    'has(m.d.j)',
    'has(m.d)',
    'm == {}',
    'size(m) > 0',
    'has(o.m.k)',
  ],
  ...['s != null', 's == null', 's.startsWith("x")', 's == "x"', 'size(s) > 1', 'default(s, "").startsWith("x")'],
  ...['10 / n > 1', '10 % 3 == n', 'n / 2 == 1', 'int(v) > 0', 'v.charAt(1) == "a"', 'v.matches("^a")', 'v.matches(v)'],
  ...[
    'l[0] == 1',
    'size(l) > 0',
    'l.size() >= 2',
    'l[1] == 1',
    '1 in l',
    'l.exists(x, 1 / x == 1)',
    'l.all(x, m.k == x)',
  ],
  ...[
    'n * 1000000000 > 1',
    'm.k + 1 > 1',
    'default(m.k, 0) * 2 > 1',
    'coalesce(int(v), 0) + 1 > 3',
    'coalesce(int(v), 0) * 1000000 > 3',
    'coalesce(int(v), 0) / -1 > 3',
    '-coalesce(int(v), 0) < 3',
    'coalesce(int(v), 0).with(x, x * x > 3)',
    '[n, coalesce(int(v), 0)].exists(x, x - 2 > 3)',
    '(n > 0 ? coalesce(int(v), 0) : n) + n > 3',
    'math.greatest(n, coalesce(int(v), 0)) + 1 > 3',
    'l.exists(i, x, i * x + n > 1)',
    'coalesce(int(v) * 3 > 1, true)',
  ],
  ...[
    'coalesce(json(v), 0) > 3',
    'coalesce(json(v).n, 0) == 1',
    'coalesce(json(v).n, 0) + 1 > 1',
    'has(coalesce(json(v), {}).n)',
    'coalesce(json(v), []).exists(x, x > 1)',
    'coalesce(json(v).n, true)',
    'coalesce(json(v), {}).with(b, has(b.n) && b.n > 1)',
    'type(coalesce(json(v).n, 0)) == int',
  ],
  ...[
    'h["a"] == "x"',
    '"a" in h',
    'h["a"].startsWith("x")',
    'has(h.a)',
    'type(h["a"]) == string',
    'h[?"a"].orValue("") == "x"',
  ],
)

/** Logic around them. */
export const guardedExpression: fc.Arbitrary<string> = fc.letrec<{ tree: string }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    guardedAtom,
    tie('tree').map((a) => `!(${a})`),
    fc.tuple(tie('tree'), tie('tree')).map(([a, b]) => `(${a}) && (${b})`),
    fc.tuple(tie('tree'), tie('tree'), tie('tree')).map(([a, b, c]) => `${a} && (${b}) && (${c})`),
    fc.tuple(tie('tree'), tie('tree')).map(([a, b]) => `(${a}) || (${b})`),
    fc.tuple(tie('tree'), tie('tree'), tie('tree')).map(([a, b, c]) => `(${a}) ? (${b}) : (${c})`),
  ),
})).tree

/** Arithmetic of ints, solved with bigints. */
export const intExpression = integerTree(INT_MIN, INT_MAX, '')

/** Arithmetic of uints. */
export const uintExpression = integerTree(0n, 2n ** 64n - 1n, 'u')

/** Logic over true, false and errors, solved with three values. */
export const logicExpression: fc.Arbitrary<Solved<boolean>> = fc.letrec<{ tree: Solved<boolean> }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<Solved<boolean>>(
      { source: 't', value: true },
      { source: 'f', value: false },
      { source: 'e', value: undefined },
      { source: 'true', value: true },
      { source: 'false', value: false },
    ),
    tie('tree').map(({ source, value }) => ({
      source: `!(${source})`,
      value: value === undefined ? undefined : !value,
    })),
    fc
      .tuple(fc.constantFrom('&&', '||'), fc.array(tie('tree'), { minLength: 2, maxLength: 5 }))
      .map(([operator, parts]) => {
        const decisive = operator === '||'
        const values = parts.map((part) => part.value)
        const value = values.includes(decisive) ? decisive : values.includes(undefined) ? undefined : !decisive
        return { source: parts.map((part) => `(${part.source})`).join(` ${operator} `), value }
      }),
    fc.tuple(tie('tree'), tie('tree'), tie('tree')).map(([a, b, c]) => ({
      source: `(${a.source}) ? (${b.source}) : (${c.source})`,
      value: a.value === undefined ? undefined : a.value ? b.value : c.value,
    })),
  ),
})).tree

/** Short texts with characters of every length in UTF-16 and UTF-8. */
export const text = fc.string({ unit: fc.constantFrom('a', 'b', 'A', ' ', 'é', '€', '😀', '-'), maxLength: 8 })
