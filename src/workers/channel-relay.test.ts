import { expect, test } from 'vitest'
import { ChannelRelay } from './channel-relay.ts'
import type { ToWorker } from './messages.ts'

const workers = ['w1', 'w2', 'w3']

function start() {
  const posted: [worker: string, message: ToWorker][] = []
  return { relay: new ChannelRelay((worker, message) => posted.push([worker, message])), posted }
}

const answer = (taken: boolean) => ['w1', { kind: 'channel-answer', number: 7, taken }]
const text = { number: 7, name: 'a', text: 'x', thread: undefined }

test('a text for all goes to all others, and is answered when all of them have answered', () => {
  const { relay, posted } = start()
  relay.relay('w1', text, workers)
  expect(posted).toEqual([
    ['w2', { kind: 'channel-text', id: 1, name: 'a', text: 'x' }],
    ['w3', { kind: 'channel-text', id: 1, name: 'a', text: 'x' }],
  ])
  relay.answered('w2', 1, true)
  expect(posted).toHaveLength(2)
  relay.answered('w3', 1, false)
  relay.answered('w3', 1, true)
  expect(posted.slice(2)).toEqual([answer(true)])
})

test('a text for one worker goes only to it', () => {
  const { relay, posted } = start()
  relay.relay('w1', { ...text, thread: 'w3' }, workers)
  relay.answered('w3', 1, true)
  expect(posted).toEqual([['w3', { kind: 'channel-text', id: 1, name: 'a', text: 'x' }], answer(true)])
})

test.each<[string, (relay: ChannelRelay) => void]>([
  ['all refuse', (relay) => ['w2', 'w3'].map((worker) => relay.answered(worker, 1, false))],
  ['one ends', (relay) => [relay.forget('w2'), relay.answered('w3', 1, false)]],
  ['all end', (relay) => ['w2', 'w3'].map((worker) => relay.forget(worker))],
])('nobody has the channel: %s', (_, happen) => {
  const { relay, posted } = start()
  relay.relay('w1', text, workers)
  happen(relay)
  expect(posted.slice(2)).toEqual([answer(false)])
})

test('there is no such worker', () => {
  const { relay, posted } = start()
  relay.relay('w1', { ...text, thread: 'w9' }, workers)
  expect(posted).toEqual([answer(false)])
})
