import type { StructuralSchema } from '#api/definitions/structural-schema.ts'

const TEXT = { type: 'string' }
const INTEGER = { type: 'integer' }
const TEXTS = { type: 'object', additionalProperties: TEXT }
const ANYTHING = { 'x-kubernetes-preserve-unknown-fields': true }

function object(properties: object, keywords: object = {}) {
  return { type: 'object', properties, ...keywords }
}

function list(items: object, listType?: string, ...keys: string[]) {
  return {
    type: 'array',
    items,
    ...(listType === undefined ? {} : { 'x-kubernetes-list-type': listType }),
    ...(keys.length === 0 ? {} : { 'x-kubernetes-list-map-keys': keys }),
  }
}

/** A kind with fields of every sort that owners of fields distinguish. */
export const EXAMPLE_SCHEMA: StructuralSchema = object({
  apiVersion: TEXT,
  kind: TEXT,
  metadata: { type: 'object' },
  spec: object({
    replicas: INTEGER,
    name: TEXT,
    flag: { type: 'boolean' },
    port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    atomic: list(TEXT, 'atomic'),
    untyped: list(object({ a: TEXT, b: INTEGER })),
    set: list(TEXT, 'set'),
    numbers: list(INTEGER, 'set'),
    ports: list(
      object(
        {
          port: INTEGER,
          protocol: { type: 'string', default: 'TCP' },
          name: TEXT,
          inner: object({ a: TEXT, b: TEXT }),
          tags: list(TEXT, 'set'),
        },
        { required: ['port'] },
      ),
      'map',
      'port',
      'protocol',
    ),
    env: list(
      object(
        { name: TEXT, value: TEXT, sub: list(object({ id: TEXT, x: INTEGER }, { required: ['id'] }), 'map', 'id') },
        { required: ['name'] },
      ),
      'map',
      'name',
    ),
    labels: TEXTS,
    nested: { type: 'object', additionalProperties: object({ x: TEXT, y: INTEGER, z: TEXTS }) },
    whole: object({ a: TEXT, b: object({ c: TEXT }) }, { 'x-kubernetes-map-type': 'atomic' }),
    wholeMap: { ...TEXTS, 'x-kubernetes-map-type': 'atomic' },
    free: { type: 'object', ...ANYTHING },
    anything: ANYTHING,
    mixed: object({ a: TEXT, list: list(TEXT, 'set') }, ANYTHING),
    group: object({ one: object({ two: object({ three: TEXT, four: TEXT }) }) }),
  }),
  status: object({
    phase: TEXT,
    conditions: list(object({ type: TEXT, status: TEXT, reason: TEXT }, { required: ['type'] }), 'map', 'type'),
  }),
})
