import { expect, onTestFinished, test } from 'vitest'
import { ApiUnreadable } from '#cluster/api-unreadable.ts'
import { EventWriter } from '#cluster/statuses/event-writer.ts'
import type { Resource } from '#store/resources/resource.ts'
import { VirtualTime } from '../support/virtual-time.ts'
import { connectToTestServer } from './connect-to-test-server.ts'

const GATEWAY: Resource = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: { name: 'main', namespace: 'default', uid: 'u', resourceVersion: '7', creationTimestamp: '' },
}

const refusal = (message: string) => ({
  conditions: [{ type: 'Accepted', status: 'False', reason: 'Invalid', message }],
})
const ACCEPTED = { conditions: [{ type: 'Accepted', status: 'True', reason: 'Accepted', message: 'fine' }] }

async function started() {
  const { server, client } = await connectToTestServer()
  const failures: string[] = []
  const failed = (message: string) => failures.push(message)
  const writer = new EventWriter({ client, failed, component: 'example.com/controller' })
  onTestFinished(() => writer[Symbol.dispose]())
  const events = async () => (await server.call('/api/v1/namespaces/default/events')).body.items
  return { client, writer, failures, events }
}

test('a refusal is told once, and counted when it comes back', async () => {
  const { writer, events, failures } = await started()
  writer.tell(GATEWAY, undefined, ACCEPTED)
  writer.tell(GATEWAY, ACCEPTED, refusal('no such class'))
  writer.tell(GATEWAY, refusal('no such class'), refusal('no such class'))
  await expect.poll(async () => (await events()).length).toBe(1)
  expect((await events())[0]).toMatchObject({
    involvedObject: { kind: 'Gateway', namespace: 'default', name: 'main', uid: 'u', resourceVersion: '7' },
    type: 'Warning',
    reason: 'Invalid',
    message: 'no such class',
    source: { component: 'example.com/controller' },
    count: 1,
  })
  writer.tell(GATEWAY, ACCEPTED, refusal('no such class'))
  await expect.poll(async () => (await events())[0].count).toBe(2)
  expect([(await events()).length, failures]).toEqual([1, []])
})

test('a wave of refusals is cut', async () => {
  using time = new VirtualTime()
  const { writer, client, failures } = await started()
  const told: unknown[] = []
  client.create = (_, event) => Promise.resolve({ status: told.push(event), body: {} })
  for (let n = 0; n < 150; n++) writer.tell(GATEWAY, undefined, refusal(`message ${n}`))
  await time.pass(0)
  expect(told).toHaveLength(100)
  expect(failures).toEqual(['events are dropped, because there are too many; see statuses'])
  await time.pass(2000)
  for (let n = 0; n < 3; n++) writer.tell(GATEWAY, undefined, refusal(`later ${n}`))
  await time.pass(0)
  expect(told).toHaveLength(102)
})

test('an event that is refused is left out', async () => {
  using time = new VirtualTime()
  const { writer, client, failures } = await started()
  client.create = () => Promise.reject(new ApiUnreadable('POST /events: the namespace ends', { status: 403 }))
  for (let n = 0; n < 3; n++) writer.tell(GATEWAY, undefined, refusal(`message ${n}`))
  await time.pass(100_000)
  expect(failures).toEqual(['POST /events: the namespace ends; the event is dropped'])
})
