import fc from 'fast-check'
import { expect, test } from 'vitest'
import { prepareMisreading } from '#test/support/misread-keys.ts'
import { parseExactJson } from './exact-json.ts'
import { hasEscapedKey, parseJson } from './parse-json.ts'

/** A JSON value: an object is a list of its members, which may be repeated. */
type Model = { scalar: unknown } | { items: Model[] } | { members: [key: string, value: Model][] }

const keys = fc.oneof(
  fc.constantFrom(
    'a',
    'a\\',
    'a"',
    'a\n',
    'a\\n',
    'a/',
    '',
    ':',
    '":',
    '\\',
    '0',
    '1',
    '__proto__',
    'toString',
    'é',
    '😀',
  ),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
)
const scalars = fc.oneof(
  keys,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
)
const { model } = fc.letrec<{ model: Model }>((tie) => ({
  model: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalars.map((scalar) => ({ scalar })),
    fc.array(tie('model'), { maxLength: 5 }).map((items) => ({ items })),
    fc.array(fc.tuple(keys, tie('model')), { maxLength: 6 }).map((members) => ({ members })),
  ),
}))
/** How often characters are written as escapes that are not needed, and whitespace is added. */
const styles = fc.record({
  escapes: fc.infiniteStream(fc.nat(9)),
  spaces: fc.infiniteStream(fc.constantFrom('', '', '', ' ', '\n\t')),
})
type Style = typeof styles extends fc.Arbitrary<infer S> ? S : never

function spell(text: string, { escapes }: Style): string {
  const parts = text.split('').map((char) => {
    const style = escapes.next().value
    if (style === 0) return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
    if (style === 1 && char === '/') return '\\/'
    return JSON.stringify(char).slice(1, -1)
  })
  return `"${parts.join('')}"`
}

function write(value: Model, style: Style): string {
  const space = () => style.spaces.next().value
  if ('items' in value)
    return `[${space()}${value.items.map((item) => write(item, style) + space()).join(`,${space()}`)}]`
  if ('members' in value) {
    const members = value.members.map(
      ([key, member]) => `${space()}${spell(key, style)}${space()}:${space()}${write(member, style)}${space()}`,
    )
    return `{${space()}${members.join(',')}}`
  }
  return typeof value.scalar === 'string' ? spell(value.scalar, style) : JSON.stringify(value.scalar)
}

function toValue(value: Model): unknown {
  if ('items' in value) return value.items.map(toValue)
  if ('members' in value) return Object.fromEntries(value.members.map(([key, member]) => [key, toValue(member)]))
  return value.scalar
}

/** The decision of a reader that knows where every key is. */
function hasEscape(text: string): boolean {
  return text.match(/"(?:[^"\\]|\\.)*"(?:\s*:)?/g)?.some((part) => part.endsWith(':') && part.includes('\\')) ?? false
}

test('texts are read as they were meant, whatever was parsed before', () => {
  fc.assert(
    fc.property(model, styles, (value, style) => {
      const text = write(value, style)
      const known = prepareMisreading(text)
      expect(hasEscapedKey(text)).toBe(hasEscape(text))
      expect(JSON.stringify(parseJson(text))).toBe(JSON.stringify(toValue(value)))
      expect(JSON.stringify(parseJson(text, Number))).toBe(JSON.stringify(toValue(value)))
      expect(known).toBeDefined()
    }),
    { numRuns: 1000 },
  )
})

test('texts that JSON.parse refuses are refused, with the same error', () => {
  const damages = fc.tuple(
    model,
    styles,
    fc.nat(),
    fc.constantFrom('', ',', ']', '}', '"', '1', 'x', ':', '-', '\\', '\n'),
  )
  fc.assert(
    fc.property(damages, ([value, style, at, junk]) => {
      const text = write(value, style)
      const cut = at % (text.length + 1)
      const damaged = text.slice(0, cut) + junk + text.slice(cut + 1)
      expect(errorOf(() => parseJson(damaged))).toEqual(errorOf(() => JSON.parse(damaged)))
      expect(errorOf(() => parseExactJson(damaged))).toEqual(errorOf(() => JSON.parse(damaged)))
    }),
    { numRuns: 1000 },
  )
})

function errorOf(parse: () => unknown): unknown {
  try {
    parse()
    return undefined
  } catch (error) {
    return error
  }
}

test.each([
  ['{"d":1,"a\\"":2}', ['d', 'a"']],
  ['{"e":1,"a\\n":2}', ['e', 'a\n']],
  ['{"met\\u0068od":1}', ['method']],
  ['{"a":1,"\\u0061":2}', ['a']],
  ['{"\\u005f_proto__":1,"b":2}', ['__proto__', 'b']],
])('the keys of %s', (text, expected) => {
  const known = prepareMisreading(text)
  expect(Object.keys(parseJson(text) as object)).toEqual(expected)
  expect(Object.keys(parseExactJson(text) as object)).toEqual(expected)
  expect(known).toBeDefined()
})

test('a key __proto__ is an ordinary member', () => {
  const value = parseJson('{"\\u005f_proto__":{"admin":true}}') as object
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  expect(Object.hasOwn(value, '__proto__')).toBe(true)
})

test('scalars in a text that is read again keep their values', () => {
  expect(parseJson(' {"\\n":[-0, 1e3, 1.50, true, false, null, "\\u00e9", "", {}, []]} ')).toStrictEqual({
    '\n': [-0, 1000, 1.5, true, false, null, 'é', '', {}, []],
  })
})

test('nesting may be deep', () => {
  const depth = 100_000
  let value = parseJson(`${'[{"\\n":'.repeat(depth)}1${'}]'.repeat(depth)}`)
  for (let i = 0; i < depth; i++) value = (value as Record<string, unknown>[])[0]!['\n']
  expect(value).toBe(1)
})

test.each([
  ['{"a":"\\n"}', false],
  ['{"a":"\\":"}', false],
  ['{"a":"\\\\","b":1}', false],
  ['["\\n",":",1]', false],
  ['["\\\\" , ": "]', false],
  ['{"a\\\\":1}', true],
  ['{"a\\":":1}', true],
  ['{"\\"":1}', true],
  ['{"a:\\n:b" \t\r\n: 1}', true],
  ['{"a":"\\n:","b\\n":1}', true],
  ['[{"a":"x: \\":\\n"},{"\\/":1}]', true],
])('whether %s has a key with an escape: %s', (text, expected) => expect(hasEscapedKey(text)).toBe(expected))

test('says whether this runtime misreads keys', ({ annotate }) => {
  const text = '{"g":1,"a\\"":2}'
  const known = prepareMisreading(text)
  const [, key] = Object.keys(JSON.parse(text))
  return annotate(
    key === 'a"'
      ? `V8 ${process.versions.v8} reads ${text} correctly after ${JSON.stringify(known)}: is decision 0231 still needed?`
      : `V8 ${process.versions.v8} misreads a key of ${text} as ${JSON.stringify(key)}`,
  )
})
