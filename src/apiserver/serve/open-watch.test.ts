import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { VirtualTime } from '#test/support/virtual-time.ts'
import type { ResourceRequest } from '../verbs/resource-request.ts'
import type { Watches } from '../verbs/watch.ts'
import { openWatch } from './open-watch.ts'

const REQUEST = { form: { encoding: 'json', as: 'object' } } as unknown as ResourceRequest
/** Each watch ends at once. */
const ENDING = {
  open(_: ResourceRequest, sink: Parameters<Watches['open']>[1]) {
    sink.end()
    return () => {}
  },
} as unknown as Watches

test('a client that does not take the rest of a watch that has ended is disconnected', async () => {
  using time = new VirtualTime()
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  openWatch(ENDING, REQUEST, response)
  await time.pass(29_999)
  expect([response.writableEnded, response.destroyed]).toEqual([true, false])
  await time.pass(1)
  expect(response.destroyed).toBe(true)
})

test('nothing is left of a watch whose connection is closed', () => {
  using time = new VirtualTime()
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  openWatch(ENDING, REQUEST, response)
  response.emit('close')
  expect(time.nextMs).toBeUndefined()
})
