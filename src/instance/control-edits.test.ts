import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ApiObject, objectKey } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'
import type { Finding } from '#base/finding.ts'
import { startControlLoop } from '#control/loop.ts'
import { Translator } from '#control/translator.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import { BucketLevels } from '#state/bucket-levels.ts'
import { createSlotMemory } from '#state/slots.ts'
import { applyEdits, editBatches } from '#test/support/object-edits.ts'
import { PlanPublisher } from './plan-publisher.ts'

/** Translation and the check of the plan, as an instance joins them, with what they publish. */
function runControl() {
  const publisher = new PlanPublisher(createSlotMemory(256, false), new BucketLevels())
  const statuses = new Map<string, unknown>()
  let findings: readonly Finding[] = []
  const loop = startControlLoop({
    translator: new Translator({ tlsMaterial: TLS_MATERIAL }),
    plans: publisher,
    publishStatuses: ({ written, withdrawn }, changed) => {
      for (const key of withdrawn) statuses.delete(key)
      for (const { kind, namespace, name, status } of written) statuses.set(objectKey(kind, namespace, name), status)
      findings = changed ?? findings
    },
  })
  return {
    apply: (change: ObjectChange) => loop.apply(change),
    get published() {
      return { statuses: Object.fromEntries(statuses), findings }
    },
  }
}

test('statuses and findings after any edits are those of a start with the same objects', () => {
  fc.assert(
    fc.property(editBatches, (batches) => {
      const running = runControl()
      const objects = new Map<string, ApiObject>()
      running.apply({ set: [], removed: [] })
      for (const batch of batches) running.apply(applyEdits(objects, batch))
      const started = runControl()
      started.apply({ set: [...objects.values()], removed: [] })
      expect(running.published).toEqual(started.published)
    }),
    { numRuns: 100 },
  )
})
