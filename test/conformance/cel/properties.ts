import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { equals } from '#cel/equality.ts'
import {
  CelError,
  compile,
  createEnvironment,
  Double,
  fromJson,
  HostObject,
  parse,
  type Result,
  toJson,
  type Value,
} from '#cel/index.ts'
import { print } from '#cel/printer.ts'
import {
  guardedExpression,
  intExpression,
  logicExpression,
  type Solved,
  sourceText,
  text,
  uintExpression,
} from './expression-arbitrary.ts'

/** A property of every expression; tests check it briefly, the fuzzer for hours. */
export interface Property {
  readonly name: string
  readonly property: fc.IProperty<unknown[]>
}

interface Context {
  readonly a: unknown
  readonly b: string
}

const context: Context = { a: { b: [1, 'x', null, { c: 2.5 }], key: 'value' }, b: 'text' }

const environment = createEnvironment<Context>({
  variables: [
    { path: 'a', type: 'dyn', read: ({ a }) => fromJson(a) },
    { path: 'b', type: 'string', read: ({ b }) => b },
    { path: 't', type: 'bool', read: () => true },
    { path: 'f', type: 'bool', read: () => false },
    { path: 'e', type: 'bool', read: () => new CelError('failed', 'e') },
    { path: 'x.y', type: 'list(int)', read: () => [1, 2, 3] },
  ],
})

/** What may be missing, null, empty, zero, or of another type. */
interface Shortage {
  readonly m: unknown
  readonly s: string | null
  readonly n: number
  readonly l: readonly number[]
  readonly v: string
  readonly h: string | readonly string[] | undefined
}

const shortages: fc.Arbitrary<Shortage> = fc.record({
  m: fc.constantFrom<unknown>(undefined, {}, { k: 1 }, { k: 2.5 }, { d: {} }, { k: 1, d: { j: 1 } }),
  s: fc.constantFrom(null, '', 'x'),
  n: fc.nat(2),
  l: fc.array(fc.nat(2), { maxLength: 3 }),
  v: fc.constantFrom('', 'a', '7', '(', `${2n ** 63n - 1n}`, `${-(2n ** 63n)}`, '{"n":"x"}', '{"n":9e300}', '[1,"x"]'),
  h: fc.constantFrom<Shortage['h']>(undefined, 'x', 'x, y'),
})

class OneHeader extends HostObject {
  readonly typeName = 'headers'
  readonly #value: Shortage['h']

  constructor(value: Shortage['h']) {
    super()
    this.#value = value
  }

  override member(name: string): Value | undefined {
    return name === 'a' ? this.#value : undefined
  }
}

const shortageEnvironment = createEnvironment<Shortage>({
  variables: [
    { path: 'm', type: 'map(string, dyn)', read: ({ m }) => (m === undefined ? undefined : fromJson(m)) },
    { path: 'o.m', type: 'map(string, dyn)', read: ({ m }) => (m === undefined ? undefined : fromJson(m)) },
    { path: 's', type: 'wrapper(string)', read: ({ s }) => s },
    { path: 'n', type: 'int', always: true, read: ({ n }) => n },
    { path: 'l', type: 'list(int)', always: true, read: ({ l }) => l },
    { path: 'v', type: 'string', always: true, read: ({ v }) => v },
    {
      path: 'h',
      type: 'headers',
      always: true,
      read: ({ h }) => new OneHeader(h),
      index: ({ h }, name) => (name === 'a' ? h : undefined),
    },
  ],
  types: [{ name: 'headers', element: 'string' }],
})

function evaluate(source: string): Result {
  const { program, problems } = compile(source, environment, { lenient: true })
  if (program === undefined) throw new Error(problems.map((problem) => problem.message).join('; '))
  return program.evaluate(context)
}

/** The value as plain data; undefined for an error. */
function outcome(source: string): unknown {
  const result = evaluate(source)
  return result instanceof CelError ? undefined : toJson(result)
}

function literal(value: string): string {
  return JSON.stringify(value)
}

function agree<T>({ source, value }: Solved<T>, found: unknown): void {
  const shown = typeof value === 'bigint' && !Number.isSafeInteger(Number(value)) ? String(value) : value
  const expected = typeof shown === 'bigint' ? Number(shown) : shown
  if (found !== expected) throw new Error(`${source} is ${String(found)}, expected ${String(expected)}`)
}

/** A list of the pieces between occurrences, by code points. */
function codePoints(value: string): string[] {
  return [...value]
}

function findFrom(value: string, part: string, from: number): number {
  const points = codePoints(value)
  const wanted = codePoints(part)
  for (let i = from; i + wanted.length <= points.length; i++) {
    if (wanted.every((point, j) => points[i + j] === point)) return i
  }
  return -1
}

export const PROPERTIES: readonly Property[] = [
  {
    name: 'a text parses, or says where it does not',
    property: fc.property(sourceText, (source) => {
      const { expr, problems } = parse(source)
      if ((expr === undefined) !== problems.length > 0) throw new Error('neither a tree nor problems')
      for (const { line, column, start, end, caret } of problems) {
        if (line < 1 || column < 1 || start < 0 || start > source.length || end < start)
          throw new Error('problem is nowhere')
        if (!caret.endsWith('^')) throw new Error('no caret')
      }
    }),
  },
  {
    name: 'a printed expression parses to the same text',
    property: fc.property(sourceText, (source) => {
      const { expr } = parse(source)
      if (expr === undefined) return
      const printed = print(expr)
      const again = parse(printed)
      if (again.expr === undefined) throw new Error(`does not parse: ${printed}: ${again.problems[0]?.message}`)
      if (print(again.expr) !== printed) throw new Error(`not stable: ${printed}, then ${print(again.expr)}`)
    }),
  },
  {
    name: 'compiling and evaluating ends in a value or an error',
    property: fc.property(sourceText, (source) => {
      const { program } = compile(source, environment, { lenient: true })
      if (program === undefined) return
      const result = program.evaluate(context)
      if (result === undefined) throw new Error('no result')
      if (!(result instanceof CelError)) toJson(result)
      if (program.constant !== undefined && result instanceof CelError) throw new Error('a constant that fails')
    }),
  },
  {
    name: 'what the checker accepts has the type it says',
    property: fc.property(sourceText, (source) => {
      const { program } = compile(source, environment, { expect: 'bool' })
      if (program === undefined || program.type.kind !== 'bool') return
      const result = program.evaluate(context)
      if (typeof result !== 'boolean' && !(result instanceof CelError)) throw new Error('not a bool')
    }),
  },
  {
    name: 'what is said not to fail does not',
    property: fc.property(guardedExpression, shortages, (source, shortage) => {
      const { program, problems } = compile(source, shortageEnvironment)
      if (program === undefined) throw new Error(problems.map(({ message }) => message).join('; '))
      if (program.canFail !== undefined) return
      const result = program.evaluate(shortage)
      if (result instanceof CelError) throw new Error(`${source} fails: ${result.message}`)
    }),
  },
  {
    name: 'int arithmetic is exact',
    property: fc.property(intExpression, (solved) => agree(solved, outcome(solved.source))),
  },
  {
    name: 'uint arithmetic is exact',
    property: fc.property(uintExpression, (solved) => agree(solved, outcome(solved.source))),
  },
  {
    name: 'logic has three values',
    property: fc.property(logicExpression, (solved) => agree(solved, outcome(solved.source))),
  },
  {
    name: 'ints compare as integers',
    property: fc.property(intExpression, intExpression, (a, b) => {
      if (a.value === undefined || b.value === undefined) return
      agree({ source: `${a.source} < ${b.source}`, value: a.value < b.value }, outcome(`(${a.source}) < (${b.source})`))
      agree(
        { source: `${a.source} == ${b.source}`, value: a.value === b.value },
        outcome(`(${a.source}) == (${b.source})`),
      )
    }),
  },
  {
    name: 'doubles calculate as doubles',
    property: fc.property(fc.double(), fc.double(), fc.constantFrom('+', '-', '*', '/'), (a, b, operator) => {
      const expected = operator === '+' ? a + b : operator === '-' ? a - b : operator === '*' ? a * b : a / b
      const [left, right] = [a, b].map((value) => (Object.is(value, -0) ? '-0' : String(value)))
      const found = evaluate(`double("${left}") ${operator} double("${right}")`)
      if (!(found instanceof Double) || !Object.is(found.value, expected)) throw new Error(`${a} ${operator} ${b}`)
    }),
  },
  {
    name: 'text functions count code points',
    property: fc.property(text, text, fc.nat(8), (value, part, index) => {
      const points = codePoints(value)
      const inside = index <= points.length
      const [subject, needle] = [literal(value), literal(part)]
      const expected: [string, unknown][] = [
        [`size(${subject})`, points.length],
        [`${subject}.substring(${index})`, inside ? points.slice(index).join('') : undefined],
        [`${subject}.charAt(${index})`, inside ? (points[index] ?? '') : undefined],
        [`${subject}.indexOf(${needle}, ${index})`, inside ? findFrom(value, part, index) : undefined],
        [`${subject}.contains(${needle})`, findFrom(value, part, 0) >= 0],
        [`${subject}.reverse().reverse() == ${subject}`, true],
        [`${subject}.split(${needle}).join(${needle}) == ${subject}`, true],
        [`${subject}.stripPrefix(${needle}).size() <= ${points.length}`, true],
        [`base64.decode(base64.encode(${subject})) == bytes(${subject})`, true],
        [`url.decode(url.encode(${subject})) == ${subject}`, true],
        [`form.decode(form.encode({"k": ${subject}})) == {"k": ${subject}}`, true],
        [`sha256.encode(${subject})`, createHash('sha256').update(value).digest('hex')],
      ]
      for (const [source, result] of expected) agree({ source, value: result }, outcome(source))
    }),
  },
  {
    name: 'JSON survives',
    property: fc.property(fc.jsonValue(), (json) => {
      const written = JSON.stringify(json)
      const found = evaluate(`toJson(json(${literal(written)}))`)
      if (typeof found !== 'string') throw new Error('no text')
      if (!equals(fromJson(JSON.parse(found)), fromJson(JSON.parse(written))))
        throw new Error(`${written} became ${found}`)
    }),
  },
]
