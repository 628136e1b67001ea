import { describe, expect, test } from 'vitest'
import type { ManagedFieldsEntry } from '#store/resources/resource.ts'
import { type FieldWrite, sameButTimes, updateManagedFields } from './managed-fields.ts'

const TEXT = { type: 'string' }
const SCHEMA = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        a: TEXT,
        b: TEXT,
        list: { type: 'array', items: TEXT },
        set: { type: 'array', items: TEXT, 'x-kubernetes-list-type': 'set' },
        items: {
          type: 'array',
          items: { type: 'object', properties: { name: TEXT, value: TEXT } },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
        },
      },
    },
    status: { type: 'object', properties: { phase: TEXT } },
  },
}
const FIRST = '2030-01-01T00:00:00Z'
const SECOND = '2030-01-01T00:00:09Z'

interface Example {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly managedFields?: readonly ManagedFieldsEntry[]
    readonly [member: string]: unknown
  }
  readonly spec?: object
  readonly status?: object
  readonly [member: string]: unknown
}

function example(spec: object, metadata: object = {}, status?: object): Example {
  const head = { apiVersion: 'v1', kind: 'Example', metadata: { name: 'one', uid: '1', ...metadata } }
  return { ...head, spec, ...(status === undefined ? {} : { status }) }
}

function update(live: Example | undefined, next: Example, write: Partial<FieldWrite> = {}): Example {
  return updateManagedFields(live, next, {
    manager: 'editor',
    schema: SCHEMA,
    hasStatus: true,
    apiVersion: 'v1',
    now: FIRST,
    ...write,
  })
}

/** The next version of an object, by another manager at a later time. */
function edit(live: Example, next: Example, write: Partial<FieldWrite> = {}): Example {
  return update(live, next, { manager: 'other', now: SECOND, ...write })
}

function entry(manager: string, fieldsV1: object, others: object = {}): object {
  return { manager, operation: 'Update', apiVersion: 'v1', time: FIRST, fieldsType: 'FieldsV1', fieldsV1, ...others }
}

function owners({ metadata: { managedFields } }: Example): Record<string, unknown> {
  return Object.fromEntries((managedFields ?? []).map(({ manager, fieldsV1 }) => [manager, fieldsV1]))
}

describe('create', () => {
  test('the manager owns all fields but those of the server, and not the status', () => {
    const created = update(
      undefined,
      example({ a: 'x', set: ['s'] }, { namespace: 'n', labels: { l: 'x' }, generation: 1 }, { phase: 'x' }),
    )
    expect(created.metadata.managedFields).toEqual([
      entry('editor', {
        'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } },
        'f:spec': { '.': {}, 'f:a': {}, 'f:set': { '.': {}, 'v:"s"': {} } },
      }),
    ])
  })

  test('of an object without fields of its own, nobody is a manager', () => {
    const { spec: _, ...bare } = example({})
    expect(update(undefined, bare as Example).metadata).toEqual({ name: 'one', uid: '1' })
  })

  test('a request without manager', () => {
    expect(Object.keys(owners(update(undefined, example({ a: 'x' }), { manager: '' })))).toEqual(['unknown'])
  })
})

describe('update', () => {
  const live = update(undefined, example({ a: 'x', b: 'y', set: ['s'], items: [{ name: 'i', value: 'x' }] }))

  test.each([
    [
      'nothing changes',
      example({ a: 'x', b: 'y', set: ['s'], items: [{ name: 'i', value: 'x' }] }),
      undefined,
      ['a', 'b'],
    ],
    [
      'a changed field moves',
      example({ a: 'z', b: 'y', set: ['s'], items: [{ name: 'i', value: 'x' }] }),
      { 'f:spec': { 'f:a': {} } },
      ['b'],
    ],
    [
      'a removed field has no manager',
      example({ b: 'y', set: ['s'], items: [{ name: 'i', value: 'x' }] }),
      undefined,
      ['b'],
    ],
    [
      'an item of a set',
      example({ a: 'x', b: 'y', set: ['t', 's'], items: [{ name: 'i', value: 'x' }] }),
      { 'f:spec': { 'f:set': { 'v:"t"': {} } } },
      ['a', 'b'],
    ],
    [
      'a field of an item',
      example({ a: 'x', b: 'y', set: ['s'], items: [{ name: 'i', value: 'z' }] }),
      { 'f:spec': { 'f:items': { 'k:{"name":"i"}': { 'f:value': {} } } } },
      ['a', 'b'],
    ],
    [
      'a new item',
      example({ a: 'x', b: 'y', set: ['s'], items: [{ name: 'i', value: 'x' }, { name: 'j' }] }),
      { 'f:spec': { 'f:items': { 'k:{"name":"j"}': { '.': {}, 'f:name': {} } } } },
      ['a', 'b'],
    ],
    [
      'a list in another order',
      example({ a: 'x', b: 'y', set: ['s'], items: [{ name: 'i', value: 'x' }], list: ['l'] }),
      { 'f:spec': { 'f:list': {} } },
      ['a', 'b'],
    ],
  ])('%s', (_, next, others, left) => {
    const updated = edit(live, next)
    expect(owners(updated).other).toEqual(others)
    const { 'f:spec': spec } = owners(updated).editor as { 'f:spec': Record<string, unknown> }
    expect(['f:a', 'f:b'].filter((name) => name in spec)).toEqual(left.map((name) => `f:${name}`))
    expect(updated.metadata.managedFields?.[0]?.time).toBe(FIRST)
  })

  test('a manager without fields disappears', () => {
    const one = update(undefined, {
      ...example({}),
      spec: { a: 'x' },
      metadata: { name: 'one', uid: '1', labels: { l: 'x' } },
    })
    const reset = edit(one, example({ a: 'y' }, { labels: { l: 'y' } }))
    const replaced = edit(reset, { ...example({ a: 'z' }), metadata: { name: 'one', uid: '1' } }, { manager: 'third' })
    expect(owners(replaced)).toEqual({ editor: { 'f:spec': {} }, third: { 'f:spec': { 'f:a': {} } } })
  })

  test('the same manager has one entry, with the new time', () => {
    const updated = update(live, example({ a: 'z', b: 'y', set: ['s'], items: [{ name: 'i', value: 'x' }] }), {
      now: SECOND,
    })
    expect(updated.metadata.managedFields?.map(({ manager, time }) => [manager, time])).toEqual([['editor', SECOND]])
    expect(owners(updated)).toEqual(owners(live))
  })

  test('another version of the same manager is another entry', () => {
    const updated = update(live, example({ a: 'z', b: 'y' }), { apiVersion: 'v2' })
    expect(updated.metadata.managedFields?.map(({ apiVersion }) => apiVersion)).toEqual(['v1', 'v2'])
  })

  test('the status subresource', () => {
    const written = edit(live, { ...live, status: { phase: 'x' } }, { subresource: 'status' })
    expect(written.metadata.managedFields?.at(-1)).toEqual(
      entry('other', { 'f:status': { '.': {}, 'f:phase': {} } }, { time: SECOND, subresource: 'status' }),
    )
    const ignored = edit(live, { ...example({ a: 'changed' }), status: { phase: 'x' } }, { subresource: 'status' })
    expect(Object.keys(owners(ignored).other as object)).toEqual(['f:status'])
  })

  test('an object without managers has none after an update', () => {
    expect(edit(example({ a: 'x' }), example({ a: 'y' })).metadata.managedFields).toBeUndefined()
  })
})

describe('managers that a client writes', () => {
  const live = update(undefined, example({ a: 'x' }))
  const own = (managedFields: unknown) => example({ a: 'y' }, { managedFields })

  test.each([
    ['an empty list', []],
    ['a list with an empty entry', [{}]],
  ])('%s removes all', (_, managedFields) => {
    expect(edit(live, own(managedFields)).metadata.managedFields).toBeUndefined()
  })

  test.each([
    ['null', null],
    ['a text', 'x'],
    ['no operation', [entry('x', {}, { operation: 'Merge' })]],
    ['no version', [entry('x', {}, { apiVersion: '' })]],
    ['no fields type', [entry('x', {}, { fieldsType: undefined })]],
    ['other fields', [entry('x', { nonsense: {} })]],
    ['an entry that is no object', ['x']],
    ['a time that is no text', [entry('x', {}, { time: 1 })]],
  ])('%s is ignored', (_, managedFields) => {
    expect(owners(edit(live, own(managedFields)))).toEqual({
      editor: { 'f:spec': {} },
      other: { 'f:spec': { 'f:a': {} } },
    })
  })

  test('valid entries replace those of the object, as when client-side apply is upgraded', () => {
    const moved = [entry('kubectl', { 'f:spec': { 'f:a': {} } }, { operation: 'Apply' })]
    expect(edit(live, example({ a: 'x' }, { managedFields: moved })).metadata.managedFields).toEqual(moved)
  })

  test('a subresource cannot change them', () => {
    const next = { ...live, metadata: { ...live.metadata, managedFields: [] }, status: { phase: 'x' } }
    expect(Object.keys(owners(edit(live, next, { subresource: 'status' })))).toEqual(['editor', 'other'])
  })
})

test('of more than ten managers, the oldest are joined', () => {
  let live = update(undefined, example({ a: '0' }, { labels: { l0: 'x' } }))
  for (let i = 1; i <= 12; i++) {
    const labels = { ...(live.metadata.labels as object), [`l${i}`]: 'x' }
    live = update(live, example({ a: '0' }, { labels, managedFields: live.metadata.managedFields }), {
      manager: `m${i}`,
      now: `2030-01-01T00:00:${10 + i}Z`,
    })
  }
  const managers = live.metadata.managedFields!.map(({ manager }) => manager)
  expect(managers).toEqual(['ancient-changes', ...[4, 5, 6, 7, 8, 9, 10, 11, 12].map((i) => `m${i}`)])
  expect(
    (owners(live)['ancient-changes'] as { 'f:metadata': { 'f:labels': object } })['f:metadata']['f:labels'],
  ).toEqual({
    '.': {},
    'f:l0': {},
    'f:l1': {},
    'f:l2': {},
    'f:l3': {},
  })
})

test('equal but for times', () => {
  const one = update(undefined, example({ a: 'x' }))
  const other = update(undefined, example({ a: 'x' }), { now: SECOND })
  expect(sameButTimes(one, other)).toBe(true)
  expect(sameButTimes(one, update(undefined, example({ a: 'x' }), { manager: 'else' }))).toBe(false)
  expect(sameButTimes(one, update(undefined, example({ a: 'y' })))).toBe(false)
  expect(sameButTimes(one, example({ a: 'x' }))).toBe(false)
})
