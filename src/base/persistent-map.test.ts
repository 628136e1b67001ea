import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PersistentMap } from './persistent-map.ts'

const change = fc.array(fc.tuple(fc.string({ maxLength: 3 }), fc.option(fc.nat(), { nil: undefined })), {
  maxLength: 60,
})

test('it equals a Map after the same changes, and older versions do not change', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
      let map: PersistentMap<number> = PersistentMap.EMPTY
      let model = new Map<string, number>()
      const versions: [PersistentMap<number>, Map<string, number>][] = []
      for (const entries of changes) {
        versions.push([map, model])
        model = new Map(model)
        for (const [key, value] of new Map(entries)) {
          if (value === undefined) model.delete(key)
          else model.set(key, value)
        }
        map = map.with(new Map(entries))
      }
      for (const [version, expected] of [...versions, [map, model] as const]) {
        expect(version.size).toBe(expected.size)
        expect([...version.values()].sort()).toEqual([...expected.values()].sort())
        for (const [key, value] of expected) expect(version.get(key)).toBe(value)
      }
      expect(map.get('a key that is too long')).toBeUndefined()
    }),
  )
})

test('no change makes no new map', () => {
  const map = PersistentMap.EMPTY.with(new Map([['a', 1 as never]]))
  expect(map.with(new Map())).toBe(map)
})
