import { expect, test } from 'vitest'
import { conditionEvents } from '#store/events/condition-events.ts'
import { ResourceTable } from '#store/resources/resource-table.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { EventRecorder } from './event-recorder.ts'

const KEY = { collection: 'proxybackends.gatewright.dev', namespace: 'a', name: 'shop' }

function condition(type: string, status: string, reason: string, message = 'text') {
  return { type, status, reason, message }
}

function put(table: ResourceTable, ...conditions: readonly object[]): void {
  const metadata = { name: 'shop', namespace: 'a', uid: 'u', resourceVersion: '', creationTimestamp: '' }
  const object = { apiVersion: 'gatewright.dev/v1alpha1', kind: 'ProxyBackend', metadata, status: { conditions } }
  table.commit([{ key: KEY, object }])
}

function told(table: ResourceTable) {
  return table.list('events').map(({ type, reason, message, count }) => [type, reason, message, count])
}

test.each([
  [condition('Accepted', 'False', 'Invalid'), ['Warning', 'Invalid']],
  [condition('Accepted', 'True', 'Accepted'), undefined],
  [condition('Accepted', 'True', 'PartiallyValid'), ['Warning', 'Invalid']],
  [condition('Accepted', 'True', 'ListenersNotValid'), ['Warning', 'Invalid']],
  [condition('ResolvedRefs', 'False', 'BackendNotFound'), ['Warning', 'Invalid']],
  [condition('Attached', 'False', 'Pending'), ['Warning', 'NotAttached']],
  [condition('Attached', 'True', 'Attached'), undefined],
  [condition('Overlapped', 'True', 'FieldsOverridden'), ['Warning', 'Overlapped']],
  [condition('Programmed', 'True', 'Programmed'), ['Normal', 'Programmed']],
  [condition('Programmed', 'False', 'Pending'), ['Warning', 'Invalid']],
  [condition('Programmed', 'Unknown', 'Pending'), undefined],
  [condition('PartiallyInvalid', 'True', 'X'), ['Warning', 'Invalid']],
  [condition('Current', 'False', 'EditRefused'), ['Warning', 'ConfigRejected']],
  [condition('Other', 'False', 'X'), undefined],
])('%j', (given, expected) => {
  const events = conditionEvents(undefined, { conditions: [given] })
  expect(events.map(({ type, reason }) => [type, reason])[0]).toEqual(expected)
  const inParent = conditionEvents(undefined, { parents: [{ conditions: [given] }] })
  expect(inParent).toEqual(events)
  expect(conditionEvents({ conditions: [given] }, { conditions: [{ ...given }] })).toEqual([])
})

test('an event names its object; what repeats is counted', async () => {
  using time = new VirtualTime()
  const table = new ResourceTable()
  const recorder = new EventRecorder(table)
  put(table, condition('Accepted', 'False', 'Invalid', 'no host'))
  expect(told(table)).toEqual([])
  await time.pass(1)
  const [event] = table.list('events', 'a')
  expect(event).toMatchObject({
    kind: 'Event',
    type: 'Warning',
    involvedObject: {
      apiVersion: 'gatewright.dev/v1alpha1',
      kind: 'ProxyBackend',
      namespace: 'a',
      name: 'shop',
      uid: 'u',
    },
    source: { component: 'gatewright' },
    count: 1,
  })
  await time.pass(5000)
  put(table, condition('Accepted', 'True', 'Accepted'))
  put(table, condition('Accepted', 'False', 'Invalid', 'no host'))
  await time.pass(1)
  expect(told(table)).toEqual([['Warning', 'Invalid', 'no host', 2]])
  expect(Date.parse(String(table.list('events')[0]?.lastTimestamp)) - Date.parse(String(event?.firstTimestamp))).toBe(
    5000,
  )
  recorder.close()
})

test('a long message is cut', async () => {
  using time = new VirtualTime()
  const table = new ResourceTable()
  const recorder = new EventRecorder(table)
  put(table, condition('Accepted', 'False', 'Invalid', 'x'.repeat(2000)))
  await time.pass(1)
  expect(told(table)).toEqual([['Warning', 'Invalid', 'x'.repeat(1024), 1]])
  recorder.close()
})

test('events are forgotten after an hour', async () => {
  using time = new VirtualTime()
  const table = new ResourceTable()
  const recorder = new EventRecorder(table)
  put(table, condition('Programmed', 'True', 'Programmed'))
  await time.pass(60 * 60_000 + 30_000)
  expect(told(table)).toHaveLength(1)
  await time.pass(2 * 60_000)
  expect(told(table)).toEqual([])
  expect(time.nextMs).toBeUndefined()
  recorder.close()
})

test('a start tells what holds, and no more than a few thousand events', async () => {
  using time = new VirtualTime()
  const table = new ResourceTable()
  put(table, ...Array.from({ length: 6000 }, (_, n) => condition('Accepted', 'False', 'Invalid', `message ${n}`)))
  const recorder = new EventRecorder(table)
  await time.pass(1)
  expect(told(table)).toHaveLength(5000)
  recorder.close()
  put(table, condition('Accepted', 'False', 'Invalid', 'later'))
  await time.pass(1)
  expect(told(table)).toHaveLength(5000)
})
