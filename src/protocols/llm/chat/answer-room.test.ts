import { expect, test } from 'vitest'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import { JsonValue, parseDocument } from '../json/json-document.ts'
import { CLIENT_DIALECTS } from '../testing.ts'
import { AnswerEnd } from './answer-end.ts'
import { AnswerRoom } from './answer-room.ts'
import type { AnswerSink, Citation } from './answer-sink.ts'

const request = parseDocument(new TextEncoder().encode('{}'))

/** A writer of a stream behind its `AnswerEnd`, with limited memory. */
function setup(client: 'completions' | 'messages', maxBytes: number, maxLength = 1_000_000) {
  if (!(request instanceof JsonValue)) throw new Error('not JSON')
  const memory = new BodyMemory(maxBytes)
  const events: string[] = []
  const room = new AnswerRoom(new BodyClaim(memory), maxLength, () => end.overflow())
  const newId = (prefix: string) => prefix
  const context = { request, provider: 'converse' as const, model: 'm', createdSeconds: 0, newId, room }
  const writer = CLIENT_DIALECTS[client]!.writeStream(context, (event) => void events.push(event))
  const end: AnswerEnd = new AnswerEnd(writer, { claim: undefined, maxKept: 0 })
  return { memory, events, end }
}

const citation = (url: string): Citation => ({ url, title: '1234', text: '56', start: undefined, end: undefined })

/** What a writer holds: how it is told so, what of it is claimed, and what releases it. */
const HELD: readonly [
  client: 'completions' | 'messages',
  what: string,
  hold: (to: AnswerSink) => void,
  bytes: number,
  release: (to: AnswerSink) => void,
][] = [
  [
    'messages',
    'calls that overlap',
    (to) => {
      to.call(1, 'y', 'second')
      to.arguments(1, '12345678')
    },
    7 + 16 + 8 + 16,
    (to) => to.close(0),
  ],
  ['messages', 'a text during a call', (to) => to.text(1, '1234'), 4 + 16, (to) => to.close(0)],
  ['messages', 'a citation during a call', (to) => to.citation(1, citation('u')), 7 + 16, (to) => to.close(0)],
  [
    'completions',
    'citations of an open block',
    (to) => {
      to.citation(1, citation('u'))
      to.citation(1, citation('v'))
    },
    2 * (7 + 16),
    (to) => to.close(1),
  ],
]

test.each(HELD)('%s: %s take memory, until they are written', (client, _what, hold, bytes, release) => {
  const { memory, end } = setup(client, 1000)
  end.call(0, 'x', 'first')
  expect(memory.heldBytes).toBe(0)
  hold(end)
  expect(memory.heldBytes).toBe(bytes)
  release(end)
  expect(memory.heldBytes).toBe(0)
})

test.each(['completions', 'messages'] as const)('%s: signatures take memory', (client) => {
  const { memory, end } = setup(client, 1000)
  end.thinking(0, 'Hm.')
  for (const piece of ['1234', '56']) end.signature(0, piece)
  expect(memory.heldBytes).toBe(4 + 16 + 2 + 16)
  end.close(0)
  // A chat completion has all of them at its end.
  expect(memory.heldBytes).toBe(client === 'messages' ? 0 : 38)
})

test('signatures of thoughts that waited release no memory of what still waits', () => {
  const { memory, end } = setup('messages', 1000)
  end.call(0, 'x', 'first')
  for (const thought of [1, 2]) {
    end.signature(thought, 'sig')
    end.close(thought)
  }
  end.call(3, 'y', 'second')
  end.text(4, '1234')
  end.close(0)
  expect(memory.heldBytes).toBe(4 + 16)
  end.close(3)
  expect(memory.heldBytes).toBe(0)
})

test.each(HELD)('%s: without memory for %s, the answer fails, once', (client, _what, hold, bytes, release) => {
  for (const { events, end } of [setup(client, bytes - 1), setup(client, 1000, bytes - 1)]) {
    end.call(0, 'x', 'first')
    hold(end)
    release(end)
    end.text(5, 'afterwards')
    end.finish('end')
    end.end()
    expect([end.failure?.message, end.isFinished]).toEqual([
      "the provider's response is too large to be translated",
      false,
    ])
    expect(events.filter((event) => event.includes('too large to be translated'))).toEqual([events.at(-1)])
    expect(events.join('')).not.toContain('afterwards')
  }
})
