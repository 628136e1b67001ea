import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { Collector } from '../testing.ts'
import { CompressedAnswer, NoSink } from './compressed-answer.ts'

const MEBIBYTE = 1_048_576

interface Reading {
  /** Whether the reader waits for the first content. */
  readonly awaits?: boolean
  /** How many bytes the beginning is decoded to. */
  readonly expands?: number
}

/** An answer that decodes to capital letters; one with `!` is damaged. */
function compressed({ awaits = false, expands = 1 }: Reading = {}) {
  const [client, reader] = [new Collector(), new Collector()]
  const { claim, memory } = roomFor(0)
  const told: string[] = []
  const limits: number[] = []
  const answer = new CompressedAnswer(client, {
    coding: 'caps',
    claim,
    decode: (coding, bytes, maxBytes) => {
      limits.push(maxBytes)
      const text = Buffer.from(bytes).toString().toUpperCase().repeat(expands)
      return coding === 'caps' && !text.includes('!') ? Buffer.from(text) : undefined
    },
    reader,
    awaitsContent: () => awaits,
    onGivenUp: () => told.push('given up'),
    onUnreadable: (length) => told.push(`unreadable ${length}`),
  })
  const push = (text: string) => {
    const bytes = Buffer.from(`-${text}-`)
    answer.bytes(bytes, 1, bytes.length - 1)
  }
  return { answer, push, client, reader, told, limits, memory }
}

test('the client gets the pieces as they come, and the reader the decoded answer at the end', () => {
  const { answer, push, client, reader, told, limits, memory } = compressed()
  push('ab')
  push('c')
  expect([client.text, client.ended, reader.text, limits]).toEqual(['abc', 0, '', []])
  expect(memory.heldBytes).toBeGreaterThan(0)
  const trailers = Head.response(200)
  answer.end(trailers)
  expect([reader.text, reader.ended, client.ended, client.trailers]).toEqual(['ABC', 1, 1, trailers])
  expect([told, limits, memory.heldBytes]).toEqual([[], [4 * MEBIBYTE], 0])
})

test('a reader that waits for content gets each piece once', () => {
  const { answer, push, reader, told, limits } = compressed({ awaits: true })
  push('ab')
  expect([reader.text, reader.calls]).toEqual(['AB', 1])
  push('c')
  expect([reader.text, reader.calls]).toEqual(['ABC', 2])
  answer.end()
  // At the end there is nothing new.
  expect([reader.text, reader.calls, reader.ended, told]).toEqual(['ABC', 2, 1, []])
  expect(limits).toEqual([MEBIBYTE, MEBIBYTE - 4, 4 * MEBIBYTE])
})

test.each([
  [MEBIBYTE / 2 - 1, []],
  [MEBIBYTE / 2, ['given up']],
])('the beginning of a stream is given up when it has cost a megabyte: %i bytes', (length, told) => {
  const reading = compressed({ awaits: true })
  reading.push('a'.repeat(length))
  expect(reading.told).toEqual(told)
})

test('what a beginning decodes to costs as well', () => {
  const almost = compressed({ awaits: true, expands: 2 })
  almost.push('a'.repeat((MEBIBYTE - 1) / 3))
  expect(almost.told).toEqual([])
  const reading = compressed({ awaits: true, expands: 1023 })
  reading.push('a'.repeat(1024))
  expect([reading.told, reading.reader.text.length]).toEqual([['given up'], 1024 * 1023])
})

test('a beginning that cannot be decoded is given up, and reported at the end', () => {
  const { answer, push, client, reader, told } = compressed({ awaits: true })
  push('a!')
  push('bc')
  expect(told).toEqual(['given up', 'given up'])
  answer.end()
  expect([client.text, client.ended, reader.text, reader.ended]).toEqual(['a!bc', 1, '', 0])
  expect(told.slice(2)).toEqual(['unreadable 4'])
})

test('an answer of more than a megabyte is not decoded', () => {
  const exact = compressed()
  exact.push('a'.repeat(MEBIBYTE))
  exact.answer.end()
  expect([exact.told, exact.reader.text.length]).toEqual([[], MEBIBYTE])
  const { answer, push, reader, told, limits, memory } = compressed()
  push('a'.repeat(MEBIBYTE + 1))
  push('b')
  // Nor is it kept.
  expect(memory.heldBytes).toBe(0)
  answer.end()
  expect([reader.text, told, limits]).toEqual(['', [`unreadable ${MEBIBYTE + 2}`], []])
})

test('a broken answer is read as far as it came', () => {
  const { answer, push, client, reader } = compressed()
  push('ab')
  answer.abort('reset')
  expect([client.aborted, reader.text, reader.aborted, reader.ended]).toEqual(['reset', 'AB', 'reset', 0])
})

test('a broken answer that cannot be decoded breaks nothing else', () => {
  const { answer, push, client, reader, told } = compressed()
  push('a!')
  answer.abort('reset')
  expect([client.aborted, reader.aborted, told]).toEqual(['reset', undefined, ['unreadable 2']])
})

test('an answer that the client leaves is read when its tokens are counted, once', () => {
  const { answer, push, client, reader, told, memory } = compressed()
  push('ab')
  answer.abort('cancelled')
  expect([client.aborted, reader.text, reader.aborted]).toEqual(['cancelled', '', undefined])
  expect(answer.readAll()).toBe(true)
  expect([reader.text, told, memory.heldBytes]).toEqual(['AB', [], 0])
  expect(answer.readAll()).toBe(false)
  answer.end()
  expect([reader.text, reader.ended, client.ended, told]).toEqual(['AB', 0, 1, []])
})

test('what a reader forwards goes nowhere', () => {
  const sink = new NoSink()
  sink.bytes()
  sink.end()
  sink.abort()
  expect([sink.backed, sink.takesFramed, sink.source]).toEqual([false, true, null])
})
