import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import { Giver } from '#net/testing/giver.ts'
import { BodyInput, type InputUse } from './body-input.ts'

function inputWith(use: InputUse, maxHeldBytes = 8) {
  const events: string[] = []
  const state = { held: 0, backed: false }
  const input = new BodyInput(
    {
      receiverBacked: () => state.backed,
      received: (to, bytes) => events.push(`${to} ${new TextDecoder().decode(bytes)}`),
      hold: (bytes) => {
        state.held += bytes
      },
      overflowed: () => events.push('overflowed'),
      ended: (trailers) => events.push(`ended ${trailers?.get('x-sum')}`),
      broken: (why) => events.push(why),
    },
    use,
    maxHeldBytes,
  )
  const giver = new Giver()
  giver.pipe(input)
  return { input, giver, events, state }
}

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

test('held bytes count as memory until they are taken', () => {
  const { input, giver, events, state } = inputWith('hold')
  giver.give('hello')
  giver.give(' w')
  giver.sink.end()
  expect([text(input.beginning(3)), state.held, giver.paused]).toEqual(['hel', 7, false])
  expect([text(input.take()), state.held, events]).toEqual(['hello w', 0, ['ended undefined']])
})

test('more bytes than wanted pause the source, once', () => {
  const { input, giver, events } = inputWith('hold')
  giver.give('hello')
  giver.give('world')
  giver.give('!')
  expect([events, giver.paused, text(input.beginning(8)), text(input.take())]).toEqual([
    ['overflowed'],
    true,
    'hellowor',
    'helloworld!',
  ])
  input.change('pass')
  expect(giver.paused).toBe(false)
  giver.give('more')
  expect(events).toEqual(['overflowed', 'pass more'])
})

test('bytes that are sent are copies, and wait for their receiver', () => {
  const { input, giver, events, state } = inputWith('send')
  state.backed = true
  giver.give('a')
  expect([events, giver.paused]).toEqual([['send a'], true])
  input.resume()
  expect(giver.paused, 'there is no room yet').toBe(true)
  state.backed = false
  input.resume()
  expect([giver.paused, state.held]).toEqual([false, 0])
})

test('dropped bytes are read', () => {
  const { giver, events, state } = inputWith('drop')
  state.backed = true
  giver.give('hello')
  expect([events, giver.paused]).toEqual([[], false])
})

test('trailers without fields are none', () => {
  const trailers = new Head()
  const { giver, events } = inputWith('drop')
  giver.sink.end(trailers)
  trailers.append('x-sum', '1')
  giver.sink.end(trailers)
  giver.sink.abort('reset')
  expect(events).toEqual(['ended undefined', 'ended 1', 'reset'])
})
