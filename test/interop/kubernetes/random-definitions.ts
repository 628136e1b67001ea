import { type SeededRandom, seededRandom } from '#test/support/seeded-random.ts'

type Schema = Readonly<Record<string, unknown>>

/** A definition of a kind, and objects of the kind. */
export interface DefinitionExample {
  readonly definition: object
  readonly objects: readonly { readonly object: object; readonly before?: object }[]
}

const OBJECTS = 8
const NAMES = ['a', 'b', 'c-d', 'namespace', 'e__f']
const FORMATS = ['date', 'date-time', 'duration', 'ipv4', 'ipv6', 'cidr', 'uuid', 'byte', 'mac', 'hexcolor', 'other']
const TEXTS = [
  '',
  'x',
  'xy',
  'xyz',
  'ünïcödé',
  '😀😀',
  '2026-01-31',
  '2026-02-30',
  '2026-01-31T10:00:00Z',
  '5m',
  '1h30m',
  '10.0.0.1',
  '::1',
  '10.0.0.0/8',
  '1b4e28ba-2fa1-11d2-883f-0016d3cca427',
  'aGk=',
  'aG',
  '00:11:22:33:44:55',
  '#fff',
  '#ff',
]
const NUMBERS = [0, 1, 2, 3, 5, 7, 100, -1, 2.5, 0.3]
const RULES: Readonly<Record<string, readonly string[]>> = {
  string: [
    'self.size() < 3',
    "self != 'x'",
    "self.startsWith('x') || self == ''",
    'self == oldSelf',
    "self.matches('^[a-z]*$')",
  ],
  integer: ['self > 1', 'self % 2 == 0', 'self >= oldSelf', 'self in [0, 1, 2, 3]'],
  number: ['self > 1.0', 'self * 2.0 < 10.0'],
  boolean: ['self', '!self || !oldSelf'],
  array: ['self.size() != 2', 'self == oldSelf', 'self.all(x, x == x)', 'self.exists(x, true)'],
  object: ['self == self', 'self == oldSelf'],
}

/** A random definition with random objects; equal for equal seeds. */
export function randomDefinition(seed: number): DefinitionExample {
  const random = seededRandom(seed)
  const spec = objectSchema(random, 3)
  const schema = {
    type: 'object',
    properties: { spec, status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  }
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      names: { plural: 'widgets', kind: 'Widget' },
      scope: 'Namespaced',
      versions: [version],
    },
  }
  const objects = Array.from({ length: OBJECTS }, () => {
    const object = objectOf(random, spec)
    return random.below(2) === 0 ? { object } : { object, before: objectOf(random, spec) }
  })
  return { definition, objects }
}

function objectOf(random: SeededRandom, spec: Schema): object {
  const identity = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w', namespace: 'default' } }
  return { ...identity, spec: someValue(random, spec), ...(random.below(9) === 0 ? { more: 1 } : {}) }
}

function chance(random: SeededRandom, oneIn: number, schema: () => Schema): Schema {
  return random.below(oneIn) === 0 ? schema() : {}
}

function schemaOf(random: SeededRandom, depth: number): Schema {
  const kind = random.below(depth > 0 ? 9 : 5)
  const common = {
    ...chance(random, 5, () => ({ nullable: true })),
    ...chance(random, 40, () => ({ description: 'Text.' })),
  }
  switch (kind) {
    case 0:
    case 1:
      return { ...common, ...ruled(random, textSchema(random)) }
    case 2:
      return { ...common, ...ruled(random, numberSchema(random, 'integer')) }
    case 3:
      return { ...common, ...ruled(random, numberSchema(random, 'number')) }
    case 4:
      return random.below(2) === 0
        ? { ...common, ...ruled(random, { type: 'boolean', ...chance(random, 4, () => ({ default: true })) }) }
        : {
            ...common,
            'x-kubernetes-int-or-string': true,
            ...chance(random, 2, () => ({ anyOf: [{ type: 'integer' }, { type: 'string' }] })),
          }
    case 5:
    case 6:
      return { ...common, ...ruled(random, listSchema(random, depth)) }
    case 7:
      return { ...common, ...objectSchema(random, depth - 1) }
    default:
      return random.below(3) === 0
        ? { ...common, 'x-kubernetes-preserve-unknown-fields': true, ...chance(random, 2, () => ({ type: 'object' })) }
        : {
            ...common,
            ...ruled(random, {
              type: 'object',
              additionalProperties: schemaOf(random, depth - 1),
              ...chance(random, 3, () => ({ maxProperties: 1 })),
            }),
          }
  }
}

/** Now and then a rule, an invalid one more rarely. Rules need bounds, or their cost is too high for API servers. */
function ruled(random: SeededRandom, schema: Schema): Schema {
  if (random.below(5) > 0) return schema
  const type = String(schema.type)
  const bounds = { string: { maxLength: 20 }, array: { maxItems: 4 }, object: {} }[type] ?? {}
  const rule = random.below(25) === 0 ? 'self.missing > 1' : random.pick(RULES[type]!)
  const extras = {
    ...chance(random, 3, () => ({ message: 'told by the rule' })),
    ...chance(random, 4, () => ({ reason: 'FieldValueForbidden' })),
    ...chance(random, 6, () => ({ messageExpression: "'expression told'" })),
  }
  return { ...bounds, ...schema, 'x-kubernetes-validations': [{ rule, ...extras }] }
}

function textSchema(random: SeededRandom): Schema {
  return {
    type: 'string',
    ...chance(random, 4, () => ({ minLength: 1 })),
    ...chance(random, 4, () => ({ maxLength: random.below(6) })),
    ...chance(random, 6, () => ({ pattern: random.pick(['^[a-z]+$', 'x', '(']) })),
    ...chance(random, 5, () => ({ enum: ['x', 'xy', ''] })),
    ...chance(random, 5, () => ({ default: random.pick(['x', 'xy', '']) })),
    ...chance(random, 4, () => ({ format: random.pick(FORMATS) })),
    ...chance(random, 10, () => ({ not: { enum: ['xyz'] } })),
    ...chance(random, 10, () => ({ oneOf: [{ minLength: 1 }, { maxLength: 2 }] })),
    ...chance(random, 30, () => ({ allOf: [{ type: 'string' }] })),
  }
}

function numberSchema(random: SeededRandom, type: 'integer' | 'number'): Schema {
  return {
    type,
    ...chance(random, 4, () => ({ minimum: 1, ...chance(random, 3, () => ({ exclusiveMinimum: true })) })),
    ...chance(random, 4, () => ({ maximum: 5, ...chance(random, 3, () => ({ exclusiveMaximum: true })) })),
    ...chance(random, 8, () => ({ multipleOf: 2 })),
    ...chance(random, 5, () => ({ default: random.pick([1, 3, 'x']) })),
    ...chance(random, 8, () => ({ anyOf: [{ minimum: 3 }, { maximum: 1 }] })),
  }
}

function listSchema(random: SeededRandom, depth: number): Schema {
  const bounds = {
    ...chance(random, 4, () => ({ minItems: 1 })),
    ...chance(random, 4, () => ({ maxItems: 2 })),
    ...chance(random, 40, () => ({ uniqueItems: true })),
  }
  switch (random.below(4)) {
    case 0:
      return { type: 'array', ...bounds, items: textSchema(random), 'x-kubernetes-list-type': 'set' }
    case 1: {
      const properties = { a: { type: 'string', maxLength: 9 }, b: schemaOf(random, depth - 1), n: { type: 'integer' } }
      const keys = random.pick([['a'], ['a', 'n'], ['missing']])
      const required = random.below(12) === 0 ? [] : ['a', 'n']
      const items = { type: 'object', properties, required }
      return { type: 'array', ...bounds, items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys }
    }
    default:
      return { type: 'array', ...bounds, items: schemaOf(random, depth - 1) }
  }
}

function objectSchema(random: SeededRandom, depth: number): Schema {
  const names = NAMES.filter(() => random.below(3) > 0)
  const properties = Object.fromEntries(names.map((name) => [name, schemaOf(random, depth - 1)]))
  const required = names.filter(() => random.below(6) === 0)
  return ruled(random, {
    type: 'object',
    properties,
    ...(required.length > 0 ? { required } : {}),
    ...chance(random, 8, () => ({ 'x-kubernetes-preserve-unknown-fields': true })),
    ...chance(random, 12, () => ({ minProperties: 2 })),
    ...chance(random, 10, () => ({ default: {} })),
    ...chance(random, 25, () => ({ 'x-kubernetes-embedded-resource': true })),
  })
}

/** A value that mostly fits. */
function someValue(random: SeededRandom, schema: Schema): unknown {
  if (random.below(25) === 0) return random.pick<unknown>([null, 'x', 3, true, [], {}, ['x'], { a: 1 }])
  if (schema['x-kubernetes-int-or-string'] === true) return random.pick<unknown>([1, 'x', '10%', 2.5])
  switch (schema.type) {
    case 'string':
      return random.pick((schema.enum as readonly string[] | undefined) ?? TEXTS)
    case 'integer':
      return random.pick(NUMBERS.filter((each) => Number.isInteger(each) || random.below(9) === 0))
    case 'number':
      return random.pick(NUMBERS)
    case 'boolean':
      return random.below(2) === 0
    case 'array':
      return Array.from({ length: random.below(4) }, () => someValue(random, schema.items as Schema))
    case 'object':
      return membersOf(random, schema)
    default:
      return random.pick<unknown>([{ a: [{ b: 1 }] }, 'x', 1, { apiVersion: 'v1' }])
  }
}

function membersOf(random: SeededRandom, { properties = {}, additionalProperties, ...schema }: Schema): object {
  const members: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(properties as Readonly<Record<string, Schema>>)) {
    if (random.below(4) > 0) members[name] = someValue(random, property)
  }
  if (additionalProperties !== undefined) {
    for (const key of ['k', 'l.m'])
      if (random.below(2) === 0) members[key] = someValue(random, additionalProperties as Schema)
  }
  if (schema['x-kubernetes-embedded-resource'] === true && random.below(4) > 0) {
    Object.assign(members, { apiVersion: 'v1', kind: 'X', metadata: { name: 'x' } })
  }
  if (random.below(10) === 0) members.unknown = random.pick<unknown>([1, { a: 1 }, [{ b: 2 }]])
  return members
}
