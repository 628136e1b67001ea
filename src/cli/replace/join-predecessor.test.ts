import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { type Channel, joinPredecessor } from './join-predecessor.ts'

const START = {
  kind: 'start',
  traffic: ['0.0.0.0:80', '0.0.0.0:80'],
  operators: ['admin a'],
  isReady: true,
  sessionKey: '00ff',
}

class TestChannel extends EventEmitter {
  readonly ppid = 7
  connected = true
  readonly sent: unknown[] = []
  send = (message: unknown) => this.sent.push(message)
  disconnect(): void {
    this.connected = false
  }
}

function join(channel: TestChannel, environment: NodeJS.ProcessEnv) {
  return joinPredecessor(environment, channel as unknown as Channel)
}

test('a process learns what it inherits, and takes over when the other has let go', async () => {
  const channel = new TestChannel()
  const environment = { GATEWRIGHT_PREDECESSOR: '7', OTHER: 'a' }
  const joining = join(channel, environment)
  expect(environment).toEqual({ OTHER: 'a' })
  channel.emit('message', START)
  const predecessor = (await joining)!
  expect(predecessor).toMatchObject({
    traffic: [
      { socket: '0.0.0.0:80', descriptor: 4 },
      { socket: '0.0.0.0:80', descriptor: 5 },
    ],
    operators: [{ socket: 'admin a', descriptor: 6 }],
    isReady: true,
    sessionKey: Buffer.from([0, 255]),
  })
  let isOver = false
  const over = predecessor.takeOver().then(() => {
    isOver = true
  })
  await Promise.resolve()
  expect([channel.sent, isOver]).toEqual([[{ kind: 'running' }], false])
  channel.emit('message', { kind: 'over' })
  await over
  predecessor.leave()
  expect(channel.connected).toBe(false)
})

test('only the first cause of a failure is told', async () => {
  const channel = new TestChannel()
  const joining = join(channel, { GATEWRIGHT_PREDECESSOR: '7' })
  channel.emit('message', START)
  const predecessor = (await joining)!
  predecessor.failed('the port is in use')
  predecessor.failed('it ends')
  expect(channel.sent).toEqual([{ kind: 'failed', cause: 'the port is in use' }])
})

test('a process that was killed waits for nothing', async () => {
  const channel = new TestChannel()
  const joining = join(channel, { GATEWRIGHT_PREDECESSOR: '7' })
  channel.emit('message', START)
  const over = (await joining)!.takeOver()
  channel.emit('disconnect')
  await over
  const other = new TestChannel()
  const early = join(other, { GATEWRIGHT_PREDECESSOR: '7' })
  other.emit('disconnect')
  expect(await early).toBeUndefined()
})

test.each([{}, { GATEWRIGHT_PREDECESSOR: '8' }])('no gateway started this process: %j', async (environment) => {
  expect(await join(new TestChannel(), environment)).toBeUndefined()
})
