import type { Json, JsonObject } from '#base/json.ts'
import { type SeededRandom, seededRandom } from '#test/support/seeded-random.ts'

/** The values of a field that examples have. */
export type Shape =
  | { readonly kind: 'scalar'; readonly values: readonly Json[] }
  | { readonly kind: 'atomic'; readonly items: Shape }
  | { readonly kind: 'set'; readonly items: readonly Json[] }
  | { readonly kind: 'keyed'; readonly key: string; readonly keys: readonly Json[]; readonly fields: Fields }
  | { readonly kind: 'object'; readonly fields: Fields }

interface Fields {
  readonly [name: string]: Shape
}

export const scalar = (...values: Json[]): Shape => ({ kind: 'scalar', values })
export const object = (fields: Fields): Shape => ({ kind: 'object', fields })
export const keyed = (key: string, keys: readonly Json[], fields: Fields): Shape => ({
  kind: 'keyed',
  key,
  keys,
  fields,
})

const TEXT = scalar('x', 'y', '')
const TEXTS = object({ a: TEXT, b: TEXT, 'c.d/e': TEXT })
const METADATA = object({
  labels: TEXTS,
  finalizers: { kind: 'set', items: ['a', 'b', 'c', 'd'] },
  ownerReferences: keyed('uid', ['1', '2', '3'], { name: TEXT, kind: TEXT, controller: scalar(true, false) }),
})

const CONTAINER: Fields = {
  image: TEXT,
  args: { kind: 'atomic', items: TEXT },
  env: keyed('name', ['A', 'B', 'C', 'D'], {
    value: TEXT,
    valueFrom: object({ fieldRef: object({ fieldPath: TEXT }) }),
  }),
  ports: keyed('containerPort', [80, 81, 82], { name: TEXT, protocol: scalar('TCP', 'UDP') }),
  volumeMounts: keyed('mountPath', ['/a', '/b'], { name: TEXT, readOnly: scalar(true) }),
  resources: object({ limits: TEXTS }),
}

const POD_SPEC = object({
  containers: keyed('name', ['one', 'two', 'three', 'four'], CONTAINER),
  initContainers: keyed('name', ['one', 'two'], CONTAINER),
  volumes: keyed('name', ['u', 'v', 'w'], {
    emptyDir: object({ medium: TEXT }),
    configMap: object({ name: TEXT }),
  }),
  tolerations: { kind: 'atomic', items: object({ key: TEXT, operator: TEXT }) },
  nodeSelector: TEXTS,
  hostNetwork: scalar(true, false),
})

const SHAPES: Readonly<Record<string, Shape>> = {
  Deployment: object({
    metadata: METADATA,
    spec: object({
      replicas: scalar(1, 2),
      strategy: object({ rollingUpdate: object({ maxSurge: scalar(1, '50%') }) }),
      template: object({ metadata: METADATA, spec: POD_SPEC }),
    }),
  }),
  Pod: object({ metadata: METADATA, spec: POD_SPEC }),
  Service: object({
    metadata: METADATA,
    spec: object({
      ports: keyed('port', [80, 81, 443, 8080], {
        name: TEXT,
        targetPort: scalar(1, 'http'),
        protocol: scalar('TCP', 'UDP'),
      }),
      selector: TEXTS,
      externalIPs: { kind: 'atomic', items: TEXT },
      sessionAffinityConfig: object({ clientIP: object({ timeoutSeconds: scalar(1, 2) }) }),
    }),
  }),
}

export interface PatchExample {
  readonly kind: string
  readonly object: JsonObject
  readonly patch: JsonObject
}

/** A random object of one of the platform's kinds, and a strategic merge patch for it with all directives. */
export function randomPatch(seed: number): PatchExample {
  const random = seededRandom(seed)
  const kind = random.pick(Object.keys(SHAPES))
  const shape = SHAPES[kind]!
  return { kind, object: randomValue(random, shape) as JsonObject, patch: patchOf(random, shape) as JsonObject }
}

function randomValue(random: SeededRandom, shape: Shape): Json {
  switch (shape.kind) {
    case 'scalar':
      return random.pick(shape.values)
    case 'atomic':
      return Array.from({ length: random.below(3) }, () => randomValue(random, shape.items))
    case 'set':
      return someOf(random, shape.items)
    case 'keyed':
      return someOf(random, shape.keys).map((key) => ({ [shape.key]: key, ...membersOf(random, shape.fields) }))
    case 'object':
      return membersOf(random, shape.fields)
  }
}

function membersOf(random: SeededRandom, fields: Fields): JsonObject {
  const names = Object.keys(fields).filter(() => random.below(3) > 0)
  return Object.fromEntries(names.map((name) => [name, randomValue(random, fields[name]!)]))
}

/** Some of the items in a random order. */
function someOf<T>(random: SeededRandom, items: readonly T[]): T[] {
  return items
    .filter(() => random.below(3) > 0)
    .map((item) => ({ item, rank: random.below(1000) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item)
}

/** A random patch of a value, with directives. */
export function patchOf(random: SeededRandom, shape: Shape): Json {
  return shape.kind === 'object' ? patchMembers(random, shape.fields) : randomValue(random, shape)
}

function patchMembers(random: SeededRandom, fields: Fields): JsonObject {
  const way = random.below(40)
  if (way === 0) return { $patch: 'replace', ...membersOf(random, fields) }
  if (way === 1) return { $patch: 'delete' }
  const patch: Record<string, Json> = {}
  for (const [name, shape] of Object.entries(fields)) {
    if (random.below(5) < 2) Object.assign(patch, patchMember(random, name, shape))
  }
  if (way === 2) patch.$retainKeys = [...Object.keys(patch), ...someOf(random, Object.keys(fields))]
  return patch
}

function patchMember(random: SeededRandom, name: string, shape: Shape): JsonObject {
  if (random.below(10) === 0) return { [name]: null }
  if (random.below(60) === 0) return { [name]: random.pick<Json>(['odd', 7, [{ other: 1 }], [['list']], {}]) }
  if (shape.kind === 'keyed') return patchKeyed(random, name, shape)
  if (shape.kind === 'set') return patchSet(random, name, shape.items)
  return { [name]: patchOf(random, shape) }
}

function patchKeyed(random: SeededRandom, name: string, { key, keys, fields }: Shape & { kind: 'keyed' }): JsonObject {
  const order = someOf(random, keys)
  const items = order
    .filter(() => random.below(2) === 0)
    .map((value): JsonObject => ({ [key]: value, ...patchMembers(random, fields) }))
    .map((item) => (item.$patch === 'delete' ? { ...item, ...membersOf(random, fields) } : item))
  for (const gone of keys.filter((value) => !order.includes(value) && random.below(3) === 0)) {
    items.splice(random.below(items.length + 1), 0, { $patch: 'delete', [key]: gone })
  }
  if (random.below(25) === 0) items.unshift({ $patch: random.pick(['replace', 'merge', 'other']) })
  if (order.length === 0 || random.below(2) === 0) return { [name]: items }
  if (random.below(25) === 0) order.pop()
  const orderItems = order.map((value) => ({ [key]: value }))
  return { [`$setElementOrder/${name}`]: orderItems, ...(random.below(4) === 0 ? {} : { [name]: items }) }
}

function patchSet(random: SeededRandom, name: string, all: readonly Json[]): JsonObject {
  const order = someOf(random, all)
  const items = order.filter(() => random.below(2) === 0)
  const gone = all.filter((item) => !order.includes(item) && random.below(2) === 0)
  return {
    ...(order.length > 0 && random.below(2) === 0 ? { [`$setElementOrder/${name}`]: order } : {}),
    ...(items.length > 0 ? { [name]: items } : {}),
    ...(gone.length > 0 ? { [`$deleteFromPrimitiveList/${name}`]: gone } : {}),
  }
}
