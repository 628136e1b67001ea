import { beforeEach, expect, test } from 'vitest'
import { beginEvent, endEvent, flushAll, flushLater } from './turn.ts'

let order: string[]

beforeEach(async () => {
  await becomeQuiet()
  order = []
})

const endOfTurn = () => new Promise((resolve) => setImmediate(resolve))

function output(name: string) {
  const into = order
  return { flush: () => into.push(name) }
}

/** An event that brings output of those names. */
function event(...names: readonly string[]): void {
  beginEvent()
  for (const name of names) flushLater(output(name))
  endEvent()
}

/** Turns that bring little, as many as end the waiting. */
async function becomeQuiet(): Promise<void> {
  for (let i = 0; i < 5; i++) {
    flushLater({ flush() {} })
    await endOfTurn()
  }
}

/** Turns that bring enough to be waited for. */
async function becomeBusy(): Promise<void> {
  for (let i = 0; i < 16; i++) event(...'abcd')
  await endOfTurn()
  order = []
}

test('outside of events, pending output is flushed once, in order, at the end of the turn', async () => {
  flushLater(output('first'))
  flushLater(output('second'))
  await Promise.resolve()
  expect(order).toEqual([])
  await endOfTurn()
  await endOfTurn()
  expect(order).toEqual(['first', 'second'])
})

test('while turns are small, output is flushed after its event', () => {
  event('one', 'two')
  expect(order).toEqual(['one', 'two'])
  event()
  event('three')
  expect(order).toEqual(['one', 'two', 'three'])
})

test('when turns bring much, output waits for their end', async () => {
  await becomeBusy()
  event('one')
  event('two')
  expect(order).toEqual([])
  await endOfTurn()
  expect(order).toEqual(['one', 'two'])
})

test('nothing waits for more than a hundred others', async () => {
  await becomeBusy()
  for (let i = 0; i < 127; i++) event(String(i))
  expect(order).toEqual([])
  event('last')
  expect(order).toHaveLength(128)
})

test('some quiet turns in a row end the waiting', async () => {
  await becomeBusy()
  for (const name of ['1', '2', '3', '4']) {
    event(name)
    expect(order).not.toContain(name)
    await endOfTurn()
  }
  event('5')
  expect(order).toEqual(['1', '2', '3', '4', '5'])
})

test('a large turn in between restarts the count', async () => {
  await becomeBusy()
  for (const names of ['1', '2', '3', 'abcd', '4', '5']) {
    event(...names)
    await endOfTurn()
  }
  event('6')
  expect(order).not.toContain('6')
})

test('output that is added during a flush is flushed after it', () => {
  flushLater({
    flush() {
      order.push('first')
      flushLater(output('second'))
    },
  })
  flushLater(output('other'))
  flushAll()
  expect(order).toEqual(['first', 'other', 'second'])
})

test('one that throws holds up no other', async () => {
  flushLater({
    flush() {
      throw new Error('of one')
    },
  })
  flushLater(output('other'))
  expect(flushAll).toThrow('of one')
  await endOfTurn()
  await endOfTurn()
  expect(order).toEqual(['other'])
  flushLater(output('next turn'))
  await endOfTurn()
  expect(order).toEqual(['other', 'next turn'])
})
