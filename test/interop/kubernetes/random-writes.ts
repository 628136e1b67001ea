import { type SeededRandom, seededRandom } from '#test/support/seeded-random.ts'
import { EXAMPLE_SCHEMA } from './example-schema.ts'

/** One write of an object. */
export interface ExampleWrite {
  readonly operation: 'Apply' | 'Update'
  readonly manager: string
  readonly subresource?: 'status'
  readonly force: boolean
  readonly object: Readonly<Record<string, unknown>>
}

type Schema = Readonly<Record<string, unknown>>

const METADATA: Schema = {
  type: 'object',
  properties: {
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    annotations: { type: 'object', additionalProperties: { type: 'string' } },
    finalizers: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    ownerReferences: {
      type: 'array',
      items: { type: 'object', properties: { uid: { type: 'string' }, name: { type: 'string' } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
    },
  },
}

const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  string: ['x', 'y', 'z', ''],
  integer: [1, 2, 30],
  boolean: [true, false],
}

/** A random sequence of writes of one object by several managers. Later writes are often like earlier ones. */
export function randomWrites(seed: number): readonly ExampleWrite[] {
  const random = seededRandom(seed)
  const writes: ExampleWrite[] = []
  const length = 2 + random.below(9)
  for (let i = 0; i < length; i++) writes.push(randomWrite(random, writes))
  return writes
}

function randomWrite(random: SeededRandom, before: readonly ExampleWrite[]): ExampleWrite {
  const isStatus = before.length > 0 && random.below(6) === 0
  const earlier = before.length > 0 && random.below(3) > 0 ? random.pick(before).object : undefined
  const density = random.below(3) + 1
  return {
    operation: random.below(3) > 0 ? 'Apply' : 'Update',
    manager: random.pick(['a', 'b', 'c', 'kubectl']),
    ...(isStatus ? { subresource: 'status' } : {}),
    force: random.below(2) === 0,
    object: {
      apiVersion: 'example.dev/v1',
      kind: 'Example',
      metadata: { ...(varied(random, METADATA, earlier?.metadata, density) as object), name: 'one' },
      ...partOf(random, 'spec', earlier, density),
      ...partOf(random, 'status', earlier, density),
    },
  }
}

function partOf(
  random: SeededRandom,
  part: 'spec' | 'status',
  earlier: ExampleWrite['object'] | undefined,
  density: number,
): object {
  if (random.below(8) === 0) return {}
  const { properties } = EXAMPLE_SCHEMA as { readonly properties: Readonly<Record<string, Schema>> }
  return { [part]: varied(random, properties[part]!, earlier?.[part], density) }
}

/** A value like an earlier one, with some differences; or a new one. */
function varied(random: SeededRandom, schema: Schema, earlier: unknown, density: number): unknown {
  if (earlier === undefined || random.below(8) === 0) return randomValue(random, schema, density)
  if (Array.isArray(earlier)) {
    const { items } = schema as { readonly items?: Schema }
    const kept = earlier
      .filter(() => random.below(6) > 0)
      .map((item: unknown) => variedItem(random, items, item, density))
    return random.below(6) === 0 ? kept.reverse() : kept
  }
  if (typeof earlier !== 'object' || earlier === null)
    return random.below(4) === 0 ? randomValue(random, schema, density) : earlier
  const members = Object.entries(earlier).filter(() => random.below(6) > 0)
  const same = members.map(
    ([name, member]) => [name, varied(random, memberSchema(schema, name), member, density)] as const,
  )
  const more = random.below(3) === 0 ? (randomValue(random, schema, 1) as object) : {}
  return { ...(isObject(more) ? more : {}), ...Object.fromEntries(same) }
}

/** Scalars stay: they are keys, or items of a set, which must not be repeated. */
function variedItem(random: SeededRandom, schema: Schema | undefined, item: unknown, density: number): unknown {
  if (!isObject(item) || schema === undefined || random.below(3) > 0) return item
  const keys = ['port', 'protocol', 'name', 'id', 'type', 'uid']
  const changed = varied(random, schema, item, density)
  return isObject(changed)
    ? { ...changed, ...Object.fromEntries(Object.entries(item).filter(([name]) => keys.includes(name))) }
    : item
}

function memberSchema(schema: Schema, name: string): Schema {
  const { properties = {}, additionalProperties } = schema as {
    properties?: Record<string, Schema>
    additionalProperties?: Schema
  }
  return properties[name] ?? additionalProperties ?? { 'x-kubernetes-preserve-unknown-fields': true }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** @param density how many of the members of an object it has, 1 to 3 of 4 */
function randomValue(random: SeededRandom, schema: Schema, density: number): unknown {
  const { type, properties, additionalProperties, items } = schema as {
    type?: string
    properties?: Readonly<Record<string, Schema>>
    additionalProperties?: Schema
    items?: Schema
  }
  if (random.below(60) === 0) return null
  if (schema['x-kubernetes-int-or-string'] === true) return random.pick([80, 'http'])
  if (type === 'object') {
    const open =
      schema['x-kubernetes-preserve-unknown-fields'] === true
        ? { extra: anything(random, 2), more: anything(random, 2) }
        : {}
    if (properties !== undefined)
      return { ...someMembers(random, properties, density), ...(random.below(2) === 0 ? open : {}) }
    if (additionalProperties === undefined) return open
    return someMembers(
      random,
      { a: additionalProperties, b: additionalProperties, 'c.d/e': additionalProperties },
      density,
    )
  }
  if (type === 'array') return randomList(random, schema, items!, density)
  if (type === undefined) return anything(random, 2)
  return random.pick(VALUES[type]!)
}

function someMembers(random: SeededRandom, properties: Readonly<Record<string, Schema>>, density: number): object {
  const names = Object.keys(properties).filter(() => random.below(4) < density)
  return Object.fromEntries(names.map((name) => [name, randomValue(random, properties[name]!, density)]))
}

function randomList(random: SeededRandom, schema: Schema, items: Schema, density: number): readonly unknown[] {
  const list = Array.from({ length: random.below(4) }, () => randomValue(random, items, density))
  const listType = schema['x-kubernetes-list-type']
  if (listType === undefined || listType === 'atomic') return list
  const valid = list.filter((item) => item !== null)
  const keys = (schema['x-kubernetes-list-map-keys'] as readonly string[] | undefined) ?? []
  const keyed = keys.length === 0 ? valid : valid.map((item) => withKeys(random, items, item as object, keys))
  if (random.below(30) === 0) return keyed
  const texts = keyed.map((item) => (isObject(item) ? identity(item, keys) : JSON.stringify(item)))
  return keyed.filter((_, index) => texts.indexOf(texts[index]!) === index)
}

/** A key with a default may be left out. */
function withKeys(random: SeededRandom, items: Schema, item: object, keys: readonly string[]): object {
  const values = keys.map((key) => [key, random.pick(VALUES[memberSchema(items, key).type as string]!)] as const)
  const isLeftOut = random.below(3) === 0
  const { protocol: _, ...rest } = item as { readonly protocol?: unknown }
  return { ...rest, ...Object.fromEntries(values.filter(([key]) => !(isLeftOut && key === 'protocol'))) }
}

function identity(item: Readonly<Record<string, unknown>>, keys: readonly string[]): string {
  return JSON.stringify(keys.map((key) => item[key] ?? 'TCP'))
}

function anything(random: SeededRandom, depth: number): unknown {
  const form = random.below(depth > 0 ? 6 : 4)
  if (form === 4) return Array.from({ length: random.below(3) }, () => anything(random, depth - 1))
  if (form === 5)
    return { a: anything(random, depth - 1), ...(random.below(2) === 0 ? { b: anything(random, depth - 1) } : {}) }
  return random.pick<unknown>([1, 'x', true, 'y'])
}
