import { expect, test } from 'vitest'
import { LocalChannels } from './channels.ts'

test('a text reaches all open channels of its name in this thread', async () => {
  const channels = new LocalChannels('w1')
  const received: string[] = []
  const close = channels.open('a', (text) => void received.push(`1 ${text}`))
  channels.open('a', (text) => void received.push(`2 ${text}`))
  channels.open('b', (text) => void received.push(`3 ${text}`))
  expect(await channels.send('a', 'x', 'w1')).toBe(true)
  close()
  expect(await channels.send('a', 'y')).toBe(true)
  expect(await channels.send('c', 'z')).toBe(false)
  expect(received).toEqual(['1 x', '2 x', '2 y'])
})

test('sending waits for the receiver', async () => {
  const channels = new LocalChannels('w1')
  const { promise, resolve } = Promise.withResolvers<void>()
  channels.open('a', () => promise)
  let sent = false
  const sending = channels.send('a', 'x').then(() => {
    sent = true
  })
  await new Promise((next) => setImmediate(next))
  expect(sent).toBe(false)
  resolve()
  await sending
})

test('a text for another thread stays out of this one, and its result is that of the other', async () => {
  const carried: unknown[] = []
  const channels = new LocalChannels('w1', async (text) => carried.push(text) > 1)
  const received: string[] = []
  channels.open('a', (text) => void received.push(text))
  expect(await channels.send('a', 'x', 'w2')).toBe(false)
  expect(await channels.send('a', 'y', 'w2')).toBe(true)
  expect(received).toEqual([])
  expect(carried).toEqual([
    { name: 'a', text: 'x', thread: 'w2' },
    { name: 'a', text: 'y', thread: 'w2' },
  ])
})
