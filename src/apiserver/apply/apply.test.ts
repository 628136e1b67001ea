import { describe, expect, test } from 'vitest'
import type { ManagedFieldsEntry } from '#store/resources/resource.ts'
import { builtInKinds } from '../platform-rules/built-in-kinds.ts'
import { type ApplyWrite, applyConfiguration } from './apply.ts'
import { updateManagedFields } from './managed-fields.ts'

const TEXT = { type: 'string' }
const NUMBER = { type: 'integer' }
const SCHEMA = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        replicas: NUMBER,
        name: TEXT,
        list: { type: 'array', items: TEXT },
        set: { type: 'array', items: TEXT, 'x-kubernetes-list-type': 'set' },
        ports: {
          type: 'array',
          items: {
            type: 'object',
            properties: { port: NUMBER, protocol: { type: 'string', default: 'TCP' }, name: TEXT },
          },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['port', 'protocol'],
        },
        labels: { type: 'object', additionalProperties: TEXT },
        whole: { type: 'object', properties: { a: TEXT, b: TEXT }, 'x-kubernetes-map-type': 'atomic' },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    status: { type: 'object', properties: { phase: TEXT } },
  },
}
const FIRST = '2030-01-01T00:00:00Z'
const SECOND = '2030-01-01T00:00:09Z'

interface Example {
  readonly metadata: { readonly managedFields?: readonly ManagedFieldsEntry[]; readonly [member: string]: unknown }
  readonly spec?: unknown
  readonly [member: string]: unknown
}

function example(spec: unknown, metadata: object = {}): Example {
  return { apiVersion: 'v1', kind: 'Example', metadata: { name: 'one', ...metadata }, spec }
}

const WRITE: ApplyWrite = {
  manager: 'm',
  force: false,
  schema: SCHEMA,
  hasStatus: true,
  apiVersion: 'v1',
  now: FIRST,
}

function apply(live: Example | undefined, applied: unknown, write: Partial<ApplyWrite> = {}) {
  return applyConfiguration(live, applied, { ...WRITE, ...write })
}

function applied(live: Example | undefined, configuration: unknown, write: Partial<ApplyWrite> = {}): Example {
  const { object, conflicts, failure } = apply(live, configuration, write)
  if (object === undefined) throw new Error(conflicts?.message ?? failure?.message)
  return object as Example
}

function updated(live: Example | undefined, next: Example, manager: string, now = FIRST): Example {
  return updateManagedFields(live, { ...next, metadata: { ...next.metadata, uid: '1' } }, { ...WRITE, manager, now })
}

function owners({ metadata: { managedFields } }: Example): Record<string, unknown> {
  return Object.fromEntries((managedFields ?? []).map(({ manager, fieldsV1 }) => [manager, fieldsV1]))
}

describe('one manager', () => {
  test('apply creates, and owns what it names', () => {
    const configuration = example({ replicas: 1, ports: [{ port: 80, name: 'http' }] }, { labels: { a: 'x' } })
    expect(apply(undefined, configuration)).toEqual({
      object: {
        ...configuration,
        metadata: {
          name: 'one',
          labels: { a: 'x' },
          managedFields: [
            {
              manager: 'm',
              operation: 'Apply',
              apiVersion: 'v1',
              time: FIRST,
              fieldsType: 'FieldsV1',
              fieldsV1: {
                'f:metadata': { 'f:labels': { 'f:a': {} } },
                'f:spec': {
                  'f:replicas': {},
                  'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {}, 'f:name': {} } },
                },
              },
            },
          ],
        },
      },
    })
  })

  test.each([
    [
      'the same again',
      { replicas: 1, set: ['a', 'b'] },
      { replicas: 1, set: ['a', 'b'] },
      { replicas: 1, set: ['a', 'b'] },
    ],
    ['another value', { replicas: 1 }, { replicas: 2 }, { replicas: 2 }],
    ['one field more', { replicas: 1 }, { replicas: 1, name: 'x' }, { replicas: 1, name: 'x' }],
    ['one field less', { replicas: 1, name: 'x' }, { name: 'x' }, { name: 'x' }],
    ['an item less', { set: ['a', 'b', 'c'] }, { set: ['c', 'a'] }, { set: ['c', 'a'] }],
    ['no item any more', { set: ['a'], name: 'x' }, { name: 'x' }, { name: 'x' }],
    ['an empty list', { set: ['a'] }, { set: [] }, undefined],
    [
      'ports in another order',
      { ports: [{ port: 1 }, { port: 2 }] },
      { ports: [{ port: 2 }, { port: 1 }] },
      { ports: [{ port: 2 }, { port: 1 }] },
    ],
    ['a field of a port less', { ports: [{ port: 1, name: 'x' }] }, { ports: [{ port: 1 }] }, { ports: [{ port: 1 }] }],
    [
      'another protocol is another port',
      { ports: [{ port: 1 }] },
      { ports: [{ port: 1, protocol: 'UDP' }] },
      { ports: [{ port: 1, protocol: 'UDP' }] },
    ],
    ['a label less', { labels: { a: 'x', b: 'y' } }, { labels: { b: 'y' } }, { labels: { b: 'y' } }],
    ['an atomic map', { whole: { a: 'x' } }, { whole: { b: 'y' } }, { whole: { b: 'y' } }],
    ['an atomic list', { list: ['a', 'b'] }, { list: ['b'] }, { list: ['b'] }],
    [
      'fields without schema',
      { free: { a: { b: 1, c: 2 }, d: [1] } },
      { free: { a: { c: 2 }, d: [2] } },
      { free: { a: { c: 2 }, d: [2] } },
    ],
    ['a scalar becomes an object', { free: { a: 1 } }, { free: { a: { b: 1 } } }, { free: { a: { b: 1 } } }],
  ])('%s', (_, first, second, result) => {
    const again = applied(applied(undefined, example(first)), example(second), { now: SECOND })
    expect(again.spec).toEqual(result)
    expect(Object.keys(owners(again))).toEqual(again.spec === undefined ? [] : ['m'])
  })

  test('applying twice changes nothing, not even the time', () => {
    const configuration = example({ replicas: 1, ports: [{ port: 80 }] }, { labels: { a: 'x' } })
    const once = applied(undefined, configuration)
    const twice = applied(once, configuration, { now: SECOND })
    expect(twice).toEqual(once)
    expect(applied(once, example({ replicas: 2 }), { now: SECOND }).metadata.managedFields?.[0]?.time).toBe(SECOND)
  })

  test('the status of a configuration has no effect on owners', () => {
    const object = applied(undefined, { ...example({ replicas: 1 }), status: { phase: 'x' } })
    expect(owners(object)).toEqual({ m: { 'f:spec': { 'f:replicas': {} } } })
    const status = applied(
      object,
      { ...example({ replicas: 2 }), status: { phase: 'x' } },
      { subresource: 'status', manager: 's' },
    )
    expect(owners(status)).toEqual({ m: { 'f:spec': { 'f:replicas': {} } }, s: { 'f:status': { 'f:phase': {} } } })
  })
})

describe('several managers', () => {
  const base = applied(undefined, example({ replicas: 1, ports: [{ port: 80, name: 'a' }], set: ['a'] }))

  test('different fields', () => {
    const both = applied(base, example({ name: 'x', ports: [{ port: 81 }], set: ['b'] }), { manager: 'n' })
    expect(both.spec).toEqual({
      replicas: 1,
      name: 'x',
      ports: [{ port: 80, name: 'a' }, { port: 81 }],
      set: ['a', 'b'],
    })
    expect(applied(both, example({ name: 'x' }), { manager: 'n' }).spec).toEqual({
      ...(base.spec as object),
      name: 'x',
    })
  })

  test('the same value is owned by both, and stays until both are gone', () => {
    const both = applied(base, example({ replicas: 1 }), { manager: 'n', now: SECOND })
    expect(owners(both).n).toEqual({ 'f:spec': { 'f:replicas': {} } })
    const one = applied(both, example({ ports: [{ port: 80, name: 'a' }], set: ['a'] }))
    expect(one.spec).toEqual(base.spec)
    expect(applied(one, example({ name: 'x' }), { manager: 'n' }).spec).toEqual({
      name: 'x',
      ports: [{ port: 80, name: 'a' }],
      set: ['a'],
    })
  })

  test('another value is a conflict', () => {
    expect(apply(base, example({ replicas: 2 }), { manager: 'n' })).toEqual({
      conflicts: {
        message: 'Apply failed with 1 conflict: conflict with "m": .spec.replicas',
        causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "m"', field: '.spec.replicas' }],
      },
    })
  })

  test('the message about a manager that updates', () => {
    const live = updated(undefined, example({ replicas: 1 }), 'kubectl-client-side-apply')
    expect(apply(live, example({ replicas: 2 })).conflicts?.message).toBe(
      'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .spec.replicas',
    )
  })

  test('the message about several conflicts', () => {
    const live = applied(base, { ...example({}), status: { phase: 'x' } }, { manager: 'z', subresource: 'status' })
    const edited = updated(live, { ...live, spec: { ...(live.spec as object), name: 'x' } }, 'editor')
    const { conflicts } = apply(
      edited,
      example({ replicas: 2, name: 'y', ports: [{ port: 80, name: 'b' }], set: ['b'] }),
      { manager: 'n' },
    )
    expect(conflicts?.message).toBe(
      [
        'Apply failed with 3 conflicts: conflicts with "editor" using v1:',
        '- .spec.name',
        'conflicts with "m":',
        '- .spec.replicas',
        '- .spec.ports[port=80,protocol="TCP"].name',
      ].join('\n'),
    )
    expect(conflicts?.causes.map(({ field }) => field)).toEqual([
      '.spec.name',
      '.spec.replicas',
      '.spec.ports[port=80,protocol="TCP"].name',
    ])
    const status = { ...example({}), status: { phase: 'y' } }
    expect(apply(live, status, { manager: 'n', subresource: 'status' }).conflicts?.message).toBe(
      'Apply failed with 1 conflict: conflict with "z" with subresource "status": .status.phase',
    )
  })

  test('force takes fields over', () => {
    const taken = applied(base, example({ replicas: 2 }), { manager: 'n', force: true })
    expect(taken.spec).toEqual({ ...(base.spec as object), replicas: 2 })
    expect(owners(taken).n).toEqual({ 'f:spec': { 'f:replicas': {} } })
    expect((owners(taken).m as { 'f:spec': object })['f:spec']).not.toHaveProperty('f:replicas')
  })

  test('what an update set stays when an applier lets go', () => {
    const live = applied(undefined, example({ labels: { a: 'x' } }))
    const edited = updated(live, example({ labels: { a: 'x', b: 'y' } }, live.metadata), 'editor')
    expect(applied(edited, example({ name: 'x' })).spec).toEqual({ labels: { b: 'y' }, name: 'x' })
  })

  test('defaults that nobody owns stay', () => {
    const live = { ...base, spec: { ...(base.spec as object), name: 'default' } }
    expect(applied(live, example({ replicas: 2 })).spec).toEqual({ replicas: 2, name: 'default' })
  })
})

describe('objects that were not applied before', () => {
  const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration'
  const last = (spec: object) => JSON.stringify(example(spec, { annotations: {} }))

  test('fields without manager belong to "before-first-apply"', () => {
    const live = example({ replicas: 1, name: 'x' })
    expect(apply(live, example({ replicas: 2 })).conflicts?.message).toBe(
      'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .spec.replicas',
    )
    expect(owners(applied(live, example({ replicas: 2 }), { force: true }))).toEqual({
      m: { 'f:spec': { 'f:replicas': {} } },
      'before-first-apply': { 'f:spec': { '.': {}, 'f:name': {} } },
    })
  })

  test('kubectl takes over what client-side apply wrote, and writes its annotation', () => {
    const annotations = { [ANNOTATION]: last({ replicas: 1 }) }
    const live = updated(undefined, example({ replicas: 1, name: 'x' }, { annotations }), 'kubectl-client-side-apply')
    const object = applied(live, example({ replicas: 2 }), { manager: 'kubectl' })
    expect(object.spec).toEqual({ replicas: 2, name: 'x' })
    const { annotations: written } = object.metadata as { annotations: Record<string, string> }
    expect(JSON.parse(written[ANNOTATION]!)).toEqual(example({ replicas: 2 }))
    expect(apply(live, example({ replicas: 2 })).conflicts).toBeDefined()
  })

  test.each([
    ['a value that was changed since', last({ replicas: 7 })],
    ['another version', last({ replicas: 1 }).replace('"v1"', '"v2"')],
    ['no JSON', '{'],
    ['no object', '1'],
    ['unknown fields', last({ replicas: 1, other: 1 })],
  ])('but not with %s in the annotation', (_, text) => {
    const live = updated(
      undefined,
      example({ replicas: 1 }, { annotations: { [ANNOTATION]: text } }),
      'kubectl-client-side-apply',
    )
    expect(
      apply(live, example({ replicas: 2 }), { manager: 'kubectl' }).conflicts?.causes.map(({ field }) => field),
    ).toEqual(['.spec.replicas'])
  })
})

describe('a schema that has changed', () => {
  test('a manager of fields below an atomic field owns the whole', () => {
    const granular = structuredClone(SCHEMA)
    Reflect.deleteProperty(granular.properties.spec.properties.whole, 'x-kubernetes-map-type')
    const live = applied(undefined, example({ whole: { a: 'x', b: 'y' } }), { schema: granular })
    expect(owners(live).m).toEqual({ 'f:spec': { 'f:whole': { 'f:a': {}, 'f:b': {} } } })
    const edited = updated(live, { ...live, spec: { whole: { a: 'x', b: 'y' }, name: 'z' } }, 'editor')
    expect(owners(edited).m).toEqual({ 'f:spec': { 'f:whole': {} } })
  })
})

describe('refused configuration', () => {
  const typed = (message: string) => `failed to create typed patch object (/one; v1, Kind=Example): ${message}`

  test.each([
    ['no object', [], 'error decoding patch: applied configuration is an object'],
    ['managers', example({}, { managedFields: [] }), 'metadata.managedFields must be nil'],
    [
      'another version',
      { ...example({}), apiVersion: 'v2' },
      'Incorrect version specified in apply patch. Specified patch version: v2, expected: v1',
    ],
    ['an unknown field', example({ other: 1 }), typed('.spec.other: field not declared in schema')],
    ['an inherited name', example({ constructor: 1 }), typed('.spec.constructor: field not declared in schema')],
    ['another type', example({ replicas: 'x' }), typed('.spec.replicas: expected number, got "x"')],
    ['an object for a scalar', example({ replicas: {} }), typed('.spec.replicas: expected number, got an object')],
    ['a list for an object', example([]), typed('.spec: expected map, got a list')],
    ['repeated items', example({ set: ['a', 'a'] }), typed('.spec.set: duplicate entries for key [="a"]')],
    [
      'repeated keys',
      example({ ports: [{ port: 1 }, { port: 1, protocol: 'TCP' }] }),
      typed('.spec.ports: duplicate entries for key [port=1,protocol="TCP"]'),
    ],
    [
      'an object in a set',
      example({ set: [{}] }),
      typed('.spec.set: an item cannot be identified in a set whose items must be scalars'),
    ],
    [
      'two problems',
      example({ a: 1, b: 2 }),
      typed('errors:\n  .spec.a: field not declared in schema\n  .spec.b: field not declared in schema'),
    ],
  ])('%s', (_, configuration, message) => {
    expect(apply(undefined, configuration)).toEqual({ failure: { reason: 'BadRequest', message } })
  })
})

test('managers own the ports of a Service one by one, as on the platform', () => {
  const { schema } = builtInKinds().find(({ kind }) => kind === 'Service')!
  const service = (...ports: object[]) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'one' },
    spec: { ports },
  })
  const first = applied(undefined, service({ port: 53, name: 'tcp' }), { schema })
  const both = applied(first, service({ port: 53, protocol: 'UDP', name: 'udp' }), { schema, manager: 'n' })
  expect(both.spec).toEqual({
    ports: [
      { port: 53, name: 'tcp' },
      { port: 53, protocol: 'UDP', name: 'udp' },
    ],
  })
})

test('the object stays as it was', () => {
  const live = applied(undefined, example({ replicas: 1, ports: [{ port: 80 }] }))
  const before = structuredClone(live)
  applied(live, example({ replicas: 2, ports: [{ port: 81 }] }))
  expect(live).toEqual(before)
})
