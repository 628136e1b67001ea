import { expect, test } from 'vitest'
import { WaitingLine } from '../connect/waiting-line.ts'
import { BODY_LENGTH } from '../stream.ts'
import { ExchangeRig } from '../testing/exchange-rig.ts'
import { MemoryTransport } from '../testing/memory-transport.ts'
import { TimerWheel } from '../timer-wheel.ts'
import { ClientConnection } from './client-connection.ts'
import { WaitingRequest } from './waiting-request.ts'

const LATE = { code: 'wait-timeout', detail: 'late' } as const

function setup() {
  const rig = new ExchangeRig()
  const line = new WaitingLine<WaitingRequest>({ wheel: new TimerWheel(), timeoutMs: 1000, tooLate: () => LATE })
  rig.begin()
  const waiting = new WaitingRequest(rig.exchange, line)
  line.add(waiting)
  rig.exchange.request.start(waiting.transport, 'HEAD ', BODY_LENGTH, 4)
  rig.exchange.request.bytes(Buffer.from('bo'), 0, 2)
  return { ...rig, rig, line, waiting }
}

test('a waiting request has sent nothing when it fails', () => {
  const { exchange, events, line } = setup()
  expect(exchange.awaitsRoom).toBe(true)
  exchange.fail('reset')
  expect([events, line.size]).toEqual([['failed reset: undefined, unsent'], 0])
})

test('a request that has waited for too long fails, one that was given up does not', () => {
  const late = setup()
  late.waiting.failUnsent(LATE)
  expect(late.events).toEqual(['failed wait-timeout: late, unsent'])
  const given = setup()
  given.exchange.cancel()
  // The exchange may already serve another request.
  given.rig.begin()
  given.exchange.connection = new WaitingRequest(given.exchange, given.line)
  given.waiting.failUnsent(LATE)
  expect([given.events, given.line.size]).toEqual([[], 0])
})

test('an idle connection takes over what was written, and what follows', () => {
  const { exchange, waiting } = setup()
  const transport = new MemoryTransport()
  const connection = new ClientConnection({ put: () => {}, gone: () => {}, replay: () => {} })
  connection.attach(transport)
  waiting.moveTo(connection)
  exchange.request.bytes(Buffer.from('dy'), 0, 2)
  expect([exchange.awaitsRoom, transport.text]).toEqual([false, 'HEAD body'])
  expect(() => waiting.moveTo(connection)).toThrow('no request is waiting')
})
