import { expect, test } from 'vitest'
import { readModelList } from './read-model-list.ts'
import { writeMessagesList } from './write-model-list.ts'

const read = (list: unknown) =>
  readModelList(JSON.stringify(list), 'vendor')?.map(({ id, createdMs }) => [id, createdMs])

test.each<[what: string, list: unknown, models: unknown]>([
  ['nothing', {}, undefined],
  ['no list', { data: {} }, undefined],
  ['an empty list', { data: [] }, []],
  ['what is no model', { data: [1, null, {}, { id: 5 }, { id: '' }, [{ id: 'x' }]] }, []],
  ['a time in seconds', { data: [{ id: 'm', created: 7 }] }, [['m', 7000]]],
  ['a date', { data: [{ id: 'm', created_at: '1970-01-01T00:00:09Z' }] }, [['m', 9000]]],
  [
    'no time',
    { data: [{ id: 'm', created_at: 'x' }, { id: 'n', created: 1e300 }, { id: 'o' }] },
    [
      ['m', undefined],
      ['n', undefined],
      ['o', undefined],
    ],
  ],
  ['a long name', { data: [{ id: 'm'.repeat(257) }, { id: 'm'.repeat(256) }] }, [['m'.repeat(256), undefined]]],
  ['control characters', { data: [{ id: 'a\nb' }] }, []],
])('reads %s', (_, list, models) => {
  expect(read(list)).toEqual(models)
})

test('2,000 models are read; further ones are left out', () => {
  expect(read({ data: Array.from({ length: 2001 }, (_, i) => ({ id: `m${i}` })) })).toHaveLength(2000)
})

const MODELS = ['a', 'b', 'c', 'd'].map((id) => ({ id, owner: 'o', name: id, createdMs: 0 }))

test.each([
  ['', 'abcd', false],
  ['limit=2', 'ab', true],
  ['limit=2&after_id=b', 'cd', false],
  ['limit=2&after_id=a', 'bc', true],
  ['after_id=d', '', false],
  ['limit=2&before_id=d', 'bc', true],
  ['limit=5&before_id=c', 'ab', false],
  ['limit=2&after_id=gone', 'ab', true],
  ['limit=0', 'abcd', false],
  ['limit=x', 'abcd', false],
])('the page of %j', (query, ids, hasMore) => {
  const { data, ...page } = JSON.parse(writeMessagesList(MODELS, query, 0))
  expect(data.map(({ id }: { id: string }) => id).join('')).toBe(ids)
  expect(page).toEqual({ has_more: hasMore, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null })
})
