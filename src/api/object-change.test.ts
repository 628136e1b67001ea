import { expect, test } from 'vitest'
import type { ApiObject } from './object.ts'
import { ObjectChanges } from './object-change.ts'

const object = (name: string): ApiObject =>
  ({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'default' } }) as ApiObject

const OLD = object('old')
const NEW = object('new')

test.each<
  [
    what: string,
    notes: readonly (ApiObject | undefined)[],
    now: ApiObject | undefined,
    set: readonly ApiObject[],
    removed: readonly ApiObject[],
  ]
>([
  ['added', [undefined], NEW, [NEW], []],
  ['changed', [OLD], NEW, [NEW], []],
  ['changed twice', [OLD, object('between')], NEW, [NEW], []],
  ['removed', [OLD], undefined, [], [OLD]],
  ['changed and removed: as it was first', [OLD, NEW], undefined, [], [OLD]],
  ['added and removed', [undefined, NEW], undefined, [], []],
  ['changed and restored', [OLD, NEW], OLD, [], []],
])('an object that was %s', (_, notes, now, set, removed) => {
  const changes = new ObjectChanges()
  for (const before of notes) changes.note('key', before)
  const objects = new Map(now === undefined ? [] : [['key', now]])
  expect(changes.take(objects)).toEqual({ set, removed })
  expect(changes.take(objects)).toEqual({ set: [], removed: [] })
})
