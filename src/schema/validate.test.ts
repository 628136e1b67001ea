import { expect, test } from 'vitest'
import {
  annotate,
  atLeastOne,
  boolean,
  defaulted,
  enumOf,
  exactlyOne,
  integer,
  jsonObject,
  list,
  listMap,
  mapOf,
  object,
  openObject,
  optional,
  problem,
  required,
  setOf,
  text,
  validate,
  withMeanings,
  withRule,
} from './index.ts'

const limit = exactlyOne(
  ['requests', 'tokens'],
  object({
    requests: optional(integer({ min: 1 }), 'Requests.'),
    tokens: optional(integer({ min: 1 }), 'Tokens.'),
    unit: required(enumOf('Seconds', 'Minutes'), 'Unit.'),
    exact: defaulted(boolean(), false, 'Exact.'),
  }),
)

const fieldsNamed = (letters: string) =>
  object(Object.fromEntries([...letters].map((name) => [name, optional(text(), 'A text.')])))

const found = (schema: Parameters<typeof validate>[0], value: unknown) =>
  validate(schema, value, { path: 'spec' }).problems.map(({ path, code }) => `${path} ${code}`)

test('fills in defaults without touching the input', () => {
  const input = { requests: 1, unit: 'Seconds' }
  expect(validate(limit, input).value).toEqual({ requests: 1, unit: 'Seconds', exact: false })
  expect(input).toEqual({ requests: 1, unit: 'Seconds' })
})

test('a default is a copy each time', () => {
  const schema = object({ names: defaulted(list(text()), [], 'Names.') })
  const first = validate(schema, {}).value
  expect(validate(schema, {}).value?.names).not.toBe(first?.names)
})

test('reports all problems at once, with paths as kubectl prints them', () => {
  const schema = object({
    limits: required(list(limit), 'Limits.'),
    routes: required(mapOf(enumOf('A', 'B')), 'Routes.'),
    none: required(text(), 'None.'),
  })
  expect(
    found(schema, { limits: [{ requests: 0, unit: 'Days', exact: 'true', more: 1 }, 5], routes: { '/v1.0': 'C' } }),
  ).toEqual([
    'spec.limits[0].requests out-of-range',
    'spec.limits[0].unit unknown-value',
    'spec.limits[0].exact wrong-type',
    'spec.limits[0].more unknown-field',
    'spec.limits[1] wrong-type',
    'spec.routes[/v1.0] unknown-value',
    'spec.none required',
  ])
})

test.each([
  [limit, { request: 1, unit: 'Seconds' }, 'unknown field "request", did you mean "requests"?'],
  [limit, { requests: 1, unit: 'seconds' }, 'must be one of Seconds, Minutes, did you mean "Seconds"?'],
  [limit, { requests: '1', unit: 'Seconds' }, 'must be a whole number, not a string (remove the quotes?)'],
  [limit, { requests: 1.5, unit: 'Seconds' }, 'must be a whole number, not a number with a fraction'],
  [
    limit,
    { requests: null, unit: 'Seconds' },
    'must be a whole number, not null: leave the field out or give it a value',
  ],
  [limit, { unit: 'Seconds' }, 'exactly one of requests, tokens must be set; none is set'],
  [
    limit,
    { requests: 1, tokens: 1, unit: 'Seconds' },
    'exactly one of requests, tokens must be set; requests and tokens are set',
  ],
  [integer({ min: 1, max: 9 }), 10, 'must be between 1 and 9'],
  [text(), { a: 1 }, 'must be a string, not an object'],
  [text({ max: 3 }), 'secret', 'must have at most 3 characters; it has 6'],
  [list(text(), { max: 1 }), ['a', 'b'], 'must have at most 1 item; it has 2'],
  [object({}), { a: 1 }, 'unknown field "a", no fields are allowed here'],
  [fieldsNamed('abcdefghijkl'), { xy: 1 }, 'unknown field "xy"; the fields are a, b, c, d, e, f, g, h, i, j, k, l'],
  [fieldsNamed('abcdefghijklm'), { xy: 1 }, 'unknown field "xy"; gatewright fields lists the 13 fields'],
])('message %#', (schema, value, message) => {
  expect(validate(schema, value).problems.map((each) => each.message)).toContain(message)
})

test.each([
  [{ Open_AI: {} }, ['Open_AI: unknown field "Open_AI": OpenAI is "one"']],
  [{ oen: {} }, ['oen: unknown field "oen", did you mean "one"?']],
  [
    { other: {} },
    ['other: unknown field "other"; the fields are one, two', ': exactly one of one, two must be set; none is set'],
  ],
  [{ one: {}, openai: {} }, ['openai: unknown field "openai": OpenAI is "one"']],
])('a field with another name is one problem: %j', (value, expected) => {
  const schema = withMeanings(
    { openai: 'OpenAI is "one"' },
    exactlyOne(['one', 'two'], object({ one: optional(object({})), two: optional(object({})) })),
  )
  expect(validate(schema, value).problems.map(({ path, message }) => `${path}: ${message}`)).toEqual(expected)
})

test('a required field with a wrong name is one problem, unless unknown fields are dropped', () => {
  const schema = object({ name: required(text(), 'A name.') })
  expect(validate(schema, { nam: 'a' }).problems.map(({ path }) => path)).toEqual(['nam'])
  expect(validate(schema, { nam: 'a' }, { unknownFields: 'warn' }).problems.map(({ path }) => path)).toEqual(['name'])
})

test('unknown fields can be dropped with or without a warning', () => {
  const value = { requests: 1, unit: 'Seconds', more: 1 }
  const parsed = { requests: 1, unit: 'Seconds', exact: false }
  const warned = validate(limit, value, { unknownFields: 'warn' })
  expect(warned.value).toEqual(parsed)
  expect(warned.tolerated).toMatchObject([{ path: 'more', code: 'unknown-field', severity: 'warning' }])
  expect(validate(limit, value, { unknownFields: 'ignore' })).toEqual({ value: parsed, problems: [], tolerated: [] })
})

test('an open object keeps unknown fields with a warning, and treats null as absent', () => {
  const schema = openObject({ name: optional(text(), 'Name.') })
  expect(validate(schema, { name: null }).value).toEqual({})
  const { value, problems, tolerated } = validate(schema, { name: null, namee: 'x' })
  expect({ value, problems }).toEqual({ value: { namee: 'x' }, problems: [] })
  expect(tolerated).toMatchObject([{ path: 'namee', severity: 'error', message: expect.stringContaining('"name"') }])
})

test('lists can refuse duplicates', () => {
  const item = object({ name: required(text(), 'Name.'), value: required(integer(), 'Value.') })
  const pairs = listMap('name', item)
  expect(
    found(pairs, [
      { name: 'a', value: 1 },
      { name: 'b', value: 1 },
    ]),
  ).toEqual([])
  expect(
    found(pairs, [
      { name: 'a', value: 1 },
      { name: 'a', value: 2 },
    ]),
  ).toEqual(['spec[1].name duplicate'])
  expect(found(pairs, [{ value: 1 }, { value: 1 }])).toEqual(['spec[0].name required', 'spec[1].name required'])
  expect(
    found(listMap(['name', 'value'], item), [
      { name: 'a', value: 1 },
      { name: 'a', value: 2 },
    ]),
  ).toEqual([])
  expect(found(setOf(text()), ['a', 'b', 'a'])).toEqual(['spec[2] duplicate'])
})

test('a rule runs only when the fields it reads are valid', () => {
  const range = withRule(
    object({ min: required(integer(), 'Min.'), max: required(integer(), 'Max.'), note: optional(text(), 'Note.') }),
    {
      reads: ['min', 'max'],
      description: 'min is not greater than max.',
      check: ({ min, max }, path) =>
        min <= max ? [] : [problem(path, 'inconsistent', 'min must not be greater than max')],
    },
  )
  expect(found(range, { min: 2, max: 1 })).toEqual(['spec inconsistent'])
  expect(found(range, { min: 2, max: 1, note: 5 })).toEqual(['spec.note wrong-type', 'spec inconsistent'])
  expect(found(range, { min: 2, max: 1, nott: 5 })).toEqual(['spec.nott unknown-field', 'spec inconsistent'])
  expect(found(range, { min: 'x', max: 1 })).toEqual(['spec.min wrong-type'])
  expect(found(range, { max: 1 })).toEqual(['spec.min required'])
})

test('where one field replaces all others, only the rules that read nothing else are checked', () => {
  const refuse = (name: string) => ({
    reads: [name],
    description: name,
    check: (_: unknown, path: string) => [problem(`${path}.${name}`, 'inconsistent', name)],
  })
  const schema = annotate(object({ all: optional(text(), 'All.'), one: optional(text(), 'One.') }), {
    insteadOf: 'all',
    rules: [refuse('all'), refuse('one')],
  })
  expect(found(schema, { one: 'a' })).toEqual(['spec.all inconsistent', 'spec.one inconsistent'])
  expect(found(schema, { all: 'a' })).toEqual(['spec.all inconsistent'])
})

test('group rules test only the presence of fields', () => {
  const schema = atLeastOne(['a'], object({ a: optional(integer(), 'A.'), b: optional(integer(), 'B.') }))
  expect(found(schema, { b: 1 })).toEqual(['spec at-least-one-of'])
  expect(found(schema, { a: 'x' })).toEqual(['spec.a wrong-type'])
})

test('a member named __proto__ is an ordinary member', () => {
  const value = JSON.parse('{"__proto__": {"polluted": true}}')
  for (const schema of [jsonObject(), openObject({})]) {
    const parsed = validate(schema, value).value as object
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype)
    expect(Object.keys(parsed)).toEqual(['__proto__'])
  }
  expect(found(object({}), value)).toEqual(['spec.__proto__ unknown-field'])
  expect(found(object({}), JSON.parse('{"constructor": 1, "toString": 2}'))).toHaveLength(2)
})

test('a list that is too short says how many items it must have, unless it is empty', () => {
  const two = list(text(), { min: 2 })
  const messages = (value: unknown) => validate(two, value).problems.map(({ message }) => message)
  expect([messages([]), messages(['a'])]).toEqual([['must not be empty'], ['must have at least 2 items']])
})
