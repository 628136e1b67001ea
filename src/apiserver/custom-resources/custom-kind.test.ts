import { expect, test } from 'vitest'
import { customKinds } from './custom-kind.ts'

function kindOf(spec: object, version: object = {}) {
  const schema = { type: 'object', properties: { spec } }
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }]
  const names = { plural: 'widgets', kind: 'Widget' }
  const conversion = { strategy: 'None' }
  return customKinds({ group: 'example.com', names, scope: 'Namespaced', versions, conversion })[0]!
}

function admit(spec: object, value: unknown, before?: unknown) {
  const object = (content: unknown) => ({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'w', namespace: 'default' },
    spec: content,
  })
  const options = before === undefined ? {} : { before: object(before) as never }
  return kindOf(spec).admit(object(value), { unknownFields: 'warn', ...options })
}

function refusals(...of: Parameters<typeof admit>): readonly string[] {
  return admit(...of).causes.map(({ field, message }) => `${field}: ${message}`)
}

const string = { type: 'string' }
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const KEEPS = { 'x-kubernetes-preserve-unknown-fields': true }
const EMBEDDED = { 'x-kubernetes-embedded-resource': true }

test.each<[name: string, schema: object, value: unknown, kept: unknown, unknown: readonly string[]]>([
  ['unknown field', object({ a: string }), { a: 'x', b: 1 }, { a: 'x' }, ['spec.b']],
  ['inside a list', { type: 'array', items: object({ a: string }) }, [{ a: 'x', b: 1 }], [{ a: 'x' }], ['spec[0].b']],
  ['inside a map', { type: 'object', additionalProperties: object({}) }, { k: { b: 1 } }, { k: {} }, ['spec.k.b']],
  ['kept', object({}, KEEPS), { b: { c: 1 } }, { b: { c: 1 } }, []],
  [
    'dropped inside of what is kept',
    object({ a: object({}) }, KEEPS),
    { a: { b: 1 }, c: 1 },
    { a: {}, c: 1 },
    ['spec.a.b'],
  ],
  [
    'identity of an embedded object',
    object({ a: string }, EMBEDDED),
    { apiVersion: 'v1', kind: 'X', metadata: { name: 'x', labels: {} }, b: 1 },
    { apiVersion: 'v1', kind: 'X', metadata: { name: 'x', labels: {} } },
    ['spec.b'],
  ],
  ['member of the prototype', object({}), { constructor: 1 }, {}, ['spec.constructor']],
])('unknown fields: %s', (_, schema, value, kept, unknown) => {
  const { object: admitted, warnings } = admit(schema, value)
  expect(admitted?.spec).toEqual(kept)
  expect(warnings).toEqual(unknown.map((path) => `unknown field "${path}"`))
})

test.each<[name: string, schema: object, value: unknown, completed: unknown]>([
  ['absent', object({ a: { ...string, default: 'x' } }), {}, { a: 'x' }],
  ['present', object({ a: { ...string, default: 'x' } }), { a: 'y' }, { a: 'y' }],
  ['null', object({ a: { ...string, default: 'x' } }), { a: null }, { a: 'x' }],
  ['null that is permitted', object({ a: { ...string, default: 'x', nullable: true } }), { a: null }, { a: null }],
  ['null without default', object({ a: string }), { a: null }, {}],
  [
    'inside a default',
    object({ a: object({ b: { ...string, default: 'x' } }, { default: {} }) }),
    {},
    { a: { b: 'x' } },
  ],
  ['inside absent objects', object({ a: object({ b: { ...string, default: 'x' } }) }), {}, {}],
  ['in items of a list', { type: 'array', items: object({ a: { type: 'integer', default: 3 } }) }, [{}], [{ a: 3 }]],
  [
    'in values of a map',
    { type: 'object', additionalProperties: object({ a: { type: 'integer', default: 3 } }) },
    { k: {} },
    { k: { a: 3 } },
  ],
])('defaults: %s', (_, schema, value, completed) => {
  expect(admit(schema, value).object?.spec).toEqual(completed)
})

const number = { type: 'number' }
const list = (items: object, more: object = {}) => ({ type: 'array', items, ...more })

test.each<[name: string, schema: object, value: unknown, expected: readonly string[]]>([
  ['type', { type: 'integer' }, 'x', ['spec: Invalid value: "string": spec in body must be of type integer: "string"']],
  [
    'fraction',
    { type: 'integer' },
    1.5,
    ['spec: Invalid value: "number": spec in body must be of type integer: "number"'],
  ],
  [
    'null item',
    list(string),
    [null],
    ['spec[0]: Invalid value: "null": spec[0] in body must be of type string: "null"'],
  ],
  [
    'integer or text',
    { 'x-kubernetes-int-or-string': true },
    true,
    ['spec: Invalid value: "boolean": spec in body must be of type integer,string: "boolean"'],
  ],
  ['length in code points', { ...string, maxLength: 2 }, '😀😀', []],
  ['too long', { ...string, maxLength: 1 }, '😀😀', ['spec: Too long: may not be more than 1 byte']],
  [
    'too short',
    { ...string, minLength: 3 },
    'xy',
    ['spec: Invalid value: "xy": spec in body should be at least 3 chars long'],
  ],
  ['pattern', { ...string, pattern: '^a+$' }, 'b', [`spec: Invalid value: "b": spec in body should match '^a+$'`]],
  [
    'exclusive minimum',
    { ...number, minimum: 1, exclusiveMinimum: true },
    1,
    ['spec: Invalid value: 1: spec in body should be greater than 1'],
  ],
  [
    'exclusive maximum',
    { ...number, maximum: 1, exclusiveMaximum: true },
    1,
    ['spec: Invalid value: 1: spec in body should be less than 1'],
  ],
  ['multiple of a fraction', { ...number, multipleOf: 0.1 }, 0.3, []],
  ['no multiple', { ...number, multipleOf: 2 }, 3, ['spec: Invalid value: 3: spec in body should be a multiple of 2']],
  [
    'few items',
    list(string, { minItems: 1 }),
    [],
    ['spec: Invalid value: 0: spec in body should have at least 1 items'],
  ],
  ['many items', list(string, { maxItems: 1 }), ['a', 'b'], ['spec: Too many: 2: must have at most 1 item']],
  [
    'few members',
    object({ a: string }, { minProperties: 1 }),
    {},
    ['spec: Invalid value: 0: spec in body should have at least 1 properties'],
  ],
  [
    'duplicate in a set',
    list(string, { 'x-kubernetes-list-type': 'set' }),
    ['a', 'b', 'a'],
    ['spec[2]: Duplicate value: "a"'],
  ],
  [
    'duplicate key',
    list(object({ a: string, b: string }, { required: ['a'] }), {
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a'],
    }),
    [
      { a: 'x', b: '1' },
      { a: 'x', b: '2' },
    ],
    ['spec[1]: Duplicate value: {"a":"x"}'],
  ],
  [
    'item of a map that is no object',
    list(object({ a: string }, { required: ['a'] }), {
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a'],
    }),
    ['x'],
    [
      'spec[0]: Invalid value: "string": spec[0] in body must be of type object: "string"',
      'spec[0]: Invalid value: "x": must be an object for an array of list-type map',
    ],
  ],
  [
    'none of several',
    { ...number, anyOf: [{ minimum: 5 }, { maximum: 1 }] },
    3,
    [
      'spec: Invalid value: "": "spec" must validate at least one schema (anyOf)',
      'spec: Invalid value: 3: spec in body should be greater than or equal to 5',
    ],
  ],
  [
    'several of which one',
    { ...number, oneOf: [{ minimum: 1 }, { minimum: 2 }] },
    3,
    ['spec: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
  ],
  [
    'what must not be',
    { ...number, not: { minimum: 1 } },
    3,
    ['spec: Invalid value: "": "spec" must not validate the schema (not)'],
  ],
  [
    'embedded object without kind',
    object({ a: string }, EMBEDDED),
    { apiVersion: 'v1' },
    ['spec.kind: Required value'],
  ],
  [
    'embedded object with a bad label',
    object({ a: string }, EMBEDDED),
    { apiVersion: 'v1', kind: 'X', metadata: { labels: { 'a b': 'x' } } },
    ['spec.metadata.labels'],
  ],
  [
    'embedded object whose metadata is a text',
    object({ a: string }, EMBEDDED),
    { apiVersion: 'v1', kind: 'X', metadata: 'x' },
    ['spec.metadata: '],
  ],
])('values: %s', (_, schema, value, expected) => {
  expect(refusals(schema, value)).toEqual(expected.map((text) => expect.stringContaining(text)))
})

test.each<[format: string, good: readonly string[], bad: readonly string[]]>([
  ['date', ['2024-02-29'], ['2025-02-29', '2025-13-01', 'x']],
  [
    'date-time',
    ['2026-01-31T10:00:00Z', '2026-01-31T10:00:00.5+01:00', '2026-01-31T23:59:59Z'],
    ['2026-01-31', '2026-01-31T24:00:00Z', '2026-01-31T10:60:00Z', '2026-01-31T10:00:60Z'],
  ],
  ['duration', ['5m', '1h30m', '1.5s', '0', '3 days'], ['5', 'x']],
  ['ipv4', ['10.0.0.1'], ['::1', '10.0.0']],
  ['ipv6', ['::1'], ['10.0.0.1']],
  ['cidr', ['10.0.0.0/8', '::/0'], ['10.0.0.1']],
  ['uuid', ['1b4e28ba-2fa1-11d2-883f-0016d3cca427'], ['1b4e']],
  ['uri', ['https://a.test/x', '/x'], ['a b', 'x']],
  ['email', ['a@b.test'], ['a']],
  ['hostname', ['a.test'], ['-a', '']],
  ['byte', ['aGk='], ['aG', '']],
  ['mac', ['00:11:22:33:44:55'], ['00:11']],
  ['isbn', ['0321751043', '978-0321751041'], ['0321751044']],
  ['hexcolor', ['#fff'], ['#ff']],
  ['rgbcolor', ['rgb(1,2,255)'], ['rgb(1,2,256)']],
  ['unknown-format', ['anything'], []],
])('format %s', (format, good, bad) => {
  const schema = { type: 'string', format }
  expect(good.filter((text) => refusals(schema, text).length > 0)).toEqual([])
  expect(bad.filter((text) => refusals(schema, text).length === 0)).toEqual([])
})

const rule = (text: string, more: object = {}) => ({ 'x-kubernetes-validations': [{ rule: text, ...more }] })

test.each<[name: string, schema: object, value: unknown, before: unknown, expected: readonly string[]]>([
  ['that holds', { type: 'integer', ...rule('self > 1') }, 2, undefined, []],
  [
    'that does not hold',
    { type: 'integer', ...rule('self > 1') },
    1,
    undefined,
    ['spec: Invalid value: 1: failed rule: self > 1'],
  ],
  [
    'with a message',
    { type: 'integer', ...rule('self > 1', { message: 'is small' }) },
    1,
    undefined,
    ['spec: Invalid value: 1: is small'],
  ],
  [
    'with a computed message',
    { type: 'integer', ...rule('self > 1', { messageExpression: "'is ' + string(self)" }) },
    1,
    undefined,
    ['spec: Invalid value: 1: is 1'],
  ],
  [
    'with a message that fails',
    { type: 'integer', ...rule('self > 1', { message: 'is small', messageExpression: 'string(1 / self)' }) },
    0,
    undefined,
    ['spec: Invalid value: 0: is small'],
  ],
  [
    'with a reason',
    { type: 'integer', ...rule('self > 1', { reason: 'FieldValueForbidden' }) },
    1,
    undefined,
    ['spec: Forbidden: failed rule: self > 1'],
  ],
  [
    'about another field',
    object({ 'a b': string }, rule('false', { fieldPath: "['a b']" })),
    {},
    undefined,
    ['spec[a b]: Invalid value: failed rule: false'],
  ],
  [
    'that fails',
    { type: 'integer', ...rule('1 / self > 0') },
    0,
    undefined,
    ['spec: Invalid value: "integer": division by zero evaluating rule: 1 / self > 0'],
  ],
  ['whole number of a schema with fractions', { ...number, ...rule('self * 1.5 < 10.0') }, 2, undefined, []],
  [
    'escaped names',
    object(
      { namespace: string, 'a-b': string, a__b: string },
      rule("self.__namespace__ + self.a__dash__b + self.a__underscores__b == 'xyz'"),
    ),
    { namespace: 'x', 'a-b': 'y', a__b: 'z' },
    undefined,
    [],
  ],
  [
    'reserved words without escaping',
    object({ namespace: string, as: string }, rule("has(self.namespace) && !has(self.as) && self.namespace == 'x'")),
    { namespace: 'x' },
    undefined,
    [],
  ],
  [
    'named formats',
    { ...string, ...rule('!format.dns1123Subdomain().validate(self).hasValue()') },
    'a.b_',
    undefined,
    ['spec: Invalid value: "a.b_": failed rule: !format.dns1123Subdomain().validate(self).hasValue()'],
  ],
  [
    'times',
    object(
      { a: { ...string, format: 'date-time' }, b: { ...string, format: 'duration' } },
      rule("self.a + self.b == timestamp('2026-01-01T01:00:00Z')"),
    ),
    { a: '2026-01-01T00:00:00Z', b: '1h' },
    undefined,
    [],
  ],
  [
    'integer or text',
    object({ a: { 'x-kubernetes-int-or-string': true } }, rule("type(self.a) == int || self.a.endsWith('%')")),
    { a: '5%' },
    undefined,
    [],
  ],
  ['change, on creation', { ...string, ...rule('self == oldSelf') }, 'a', undefined, []],
  [
    'change',
    { ...string, ...rule('self == oldSelf') },
    'a',
    'b',
    ['spec: Invalid value: "a": failed rule: self == oldSelf'],
  ],
  [
    'change with an earlier value that may be missing',
    { ...string, ...rule("oldSelf.orValue('a') == self", { optionalOldSelf: true }) },
    'b',
    undefined,
    [`spec: Invalid value: "b": failed rule: oldSelf.orValue('a') == self`],
  ],
  [
    'change of an item with a key',
    list(object({ k: string, v: { ...string, ...rule('self == oldSelf') } }, { required: ['k'] }), {
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    }),
    [
      { k: '2', v: 'x' },
      { k: '1', v: 'y' },
    ],
    [
      { k: '1', v: 'z' },
      { k: '2', v: 'x' },
    ],
    ['spec[1].v: Invalid value: "y": failed rule: self == oldSelf'],
  ],
  [
    'lists',
    {
      type: 'array',
      items: { type: 'integer' },
      ...rule('self.isSorted() && self.max() == 3 && self.min() == 1 && self.sum() == 6 && self.indexOf(2) == 1'),
    },
    [1, 2, 3],
    undefined,
    [],
  ],
  [
    'patterns',
    { ...string, ...rule("self.find('[0-9]+') == '12' && self.findAll('[0-9]').size() == 2") },
    'a12',
    undefined,
    [],
  ],
  [
    'values of another type',
    object({ a: { type: 'integer' } }, rule('self.a > 1')),
    { a: 'x' },
    undefined,
    ['spec.a: Invalid value: "string"', ': Invalid value: some validation rules were not checked'],
  ],
])('rules: %s', (_, schema, value, before, expected) => {
  expect(refusals(schema, value, before)).toEqual(expected.map((text) => expect.stringContaining(text)))
})

test('the cost of the rules of one object is bounded', () => {
  const items = {
    type: 'array',
    items: { type: 'integer' },
    ...rule('self.all(a, self.all(b, self.all(c, a + b + c >= 0)))'),
  }
  const [only, ...more] = refusals(
    items,
    Array.from({ length: 500 }, (_, i) => i),
  )
  expect(only).toContain('takes too many steps: no further validation rules will be run')
  expect(more).toEqual([])
})

test('the stored value may break the schema', () => {
  const schema = { ...string, format: 'byte', ...rule('self.size() > 0 && self == oldSelf') }
  expect(refusals(schema, 'aGk=', 'x')).toEqual([expect.stringContaining('spec: Invalid value: "string": not base64')])
})

test('clients are told of deprecated versions', () => {
  const written = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec: {} }
  const warningsOf = (version: object) =>
    kindOf(object({}), version).admit(written, { unknownFields: 'refuse' }).warnings
  expect(warningsOf({})).toEqual([])
  expect(warningsOf({ deprecated: true })).toEqual(['example.com/v1 Widget is deprecated'])
  expect(warningsOf({ deprecated: true, deprecationWarning: 'use v2' })).toEqual(['use v2'])
})
