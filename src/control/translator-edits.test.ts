import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ApiObject, objectKey } from '#api/object.ts'
import type { PlanItem } from '#plan/item.ts'
import { applyEdits, editBatches } from '#test/support/object-edits.ts'
import { translate } from './translate.ts'
import type { ObjectStatus } from './translation.ts'
import { Translator } from './translator.ts'

test('incremental translation equals translation from scratch, for any edits in any order', () => {
  fc.assert(
    fc.property(editBatches, (batches) => {
      const translator = new Translator()
      const objects = new Map<string, ApiObject>()
      const items = new Map<string, PlanItem>()
      const statuses = new Map<string, ObjectStatus>()
      for (const batch of batches) {
        const change = translator.apply(applyEdits(objects, batch))
        for (const key of change.removed) expect(items.delete(key)).toBe(true)
        for (const item of change.set) items.set(item.key, item)
        const { written, withdrawn } = translator.takeStatuses()
        for (const key of withdrawn) statuses.delete(key)
        for (const status of written) statuses.set(objectKey(status.kind, status.namespace, status.name), status)

        const fresh = translate([...objects.values()])
        const followed = translator.translation
        expect(Object.fromEntries(followed.items)).toEqual(Object.fromEntries(fresh.items))
        expect(Object.fromEntries(items)).toEqual(Object.fromEntries(fresh.items))
        expect(followed.findings).toEqual(fresh.findings)
        expect(followed.statuses).toEqual(fresh.statuses)
        expect(new Set(statuses.values())).toEqual(new Set(fresh.statuses))
      }
    }),
    { numRuns: 300 },
  )
})
