import { expect, test } from 'vitest'
import { type JsonValue, parseDocument } from '../../json/json-document.ts'
import { writeStream } from './write-stream.ts'

const request = parseDocument(new TextEncoder().encode('{}')) as JsonValue

/** The events after the first one, shortened. */
function written(tell: (writer: ReturnType<typeof writeStream>) => void): string[] {
  let text = ''
  let ids = 0
  const context = {
    request,
    model: 'asked',
    createdSeconds: 0,
    provider: 'converse' as const,
    newId: (prefix: string) => `${prefix}${++ids}`,
  }
  const writer = writeStream(context, (events) => {
    text += events
  })
  writer.start('m', 'model')
  tell(writer)
  return text.split('\n\n').slice(1, -1).map(shorten)
}

function shorten(event: string): string {
  const [line, data = ''] = event.split('\ndata: ')
  const { type, index, content_block, delta, error } = JSON.parse(data)
  expect(line).toBe(`event: ${type}`)
  if (type === 'content_block_start') return `${index} ${content_block.type} ${content_block.name ?? ''}`.trim()
  if (type === 'content_block_stop') return `${index} end`
  if (type === 'content_block_delta') {
    return `${index} + ${delta.text ?? delta.thinking ?? delta.partial_json ?? delta.signature ?? delta.citation.url}`
  }
  if (type === 'message_delta') return delta.stop_reason
  return type === 'error' ? `${error.type}: ${error.message}` : type
}

test('a text ends when something else begins, and goes on in a new block', () => {
  const events = written((to) => {
    to.thinking(7, 'Hm')
    to.text(3, 'a')
    to.thinking(7, 'm')
    to.text(3, 'b')
    to.close(3)
    to.close(7)
    to.finish('end')
    to.end()
  })
  expect(events).toEqual([
    ...['0 thinking', '0 + Hm', '0 end', '1 text', '1 + a', '1 end', '2 thinking', '2 + m', '2 end'],
    ...['3 text', '3 + b', '3 end', 'end_turn', 'message_stop'],
  ])
})

test('calls that overlap are written one after the other, each as soon as the one before it is closed', () => {
  const events = written((to) => {
    to.text(0, 'a')
    to.call(1, 'x', 'first')
    to.call(2, 'y', 'second')
    to.arguments(2, '{"b"')
    to.arguments(1, '{"a"')
    to.text(0, 'late')
    to.arguments(1, ':1}')
    to.arguments(2, ':2}')
    to.call(3, 'z', 'third')
    to.close(2)
    to.close(1)
    to.arguments(3, '{}')
    to.close(3)
    to.close(0)
    to.finish('calls')
    to.end()
  })
  expect(events).toEqual([
    ...['0 text', '0 + a', '0 end', '1 tool_use first', '1 + {"a"', '1 + :1}', '1 end'],
    ...['2 tool_use second', '2 + {"b"', '2 + :2}', '2 end', '3 text', '3 + late', '3 end'],
    ...['4 tool_use third', '4 + {}', '4 end', 'tool_use', 'message_stop'],
  ])
})

test('a signature is written whole, at the end of its thought', () => {
  const events = written((to) => {
    to.signature(0, 'si')
    to.thinking(0, 'Hm')
    to.signature(0, 'g')
    to.text(1, 'a')
    to.signature(0, 'later')
    to.redacted(2, 'secret')
    to.close(0)
    to.close(1)
    to.close(2)
    to.finish('length')
    to.end()
  })
  expect(events).toEqual([
    ...['0 thinking', '0 + Hm', '0 + sig', '0 end', '1 text', '1 + a', '1 end'],
    ...['2 thinking', '2 + later', '2 end', '3 redacted_thinking', '3 end', 'max_tokens', 'message_stop'],
  ])
})

test('a thought that waits keeps its signature', () => {
  const events = written((to) => {
    to.call(0, 'x', 'first')
    to.thinking(1, 'Hm')
    to.signature(1, 'sig')
    to.close(1)
    to.close(0)
    to.finish('pause')
    to.end()
  })
  expect(events).toEqual([
    ...['0 tool_use first', '0 end', '1 thinking', '1 + Hm', '1 + sig', '1 end', 'pause_turn', 'message_stop'],
  ])
})

test('nothing follows an error', () => {
  const events = written((to) => {
    to.text(0, 'a')
    to.fail({ status: 429, type: undefined, message: 'slow down', code: undefined, param: undefined })
    to.end()
  })
  expect(events).toEqual(['0 text', '0 + a', 'rate_limit_error: slow down'])
})

test('a refusal is a text, and the reason to stop', () => {
  const events = written((to) => {
    to.refusal(0, 'I cannot.')
    to.close(0)
    to.finish('end')
    to.end()
  })
  expect(events).toEqual(['0 text', '0 + I cannot.', '0 end', 'refusal', 'message_stop'])
})

test('a block of the provider that changes its kind becomes several', () => {
  const events = written((to) => {
    to.thinking(0, 'Hm')
    to.text(0, 'a')
    to.redacted(0, 'secret')
    to.citation(0, { url: 'u', title: 't', text: 'x', start: undefined, end: undefined })
    to.close(0)
    to.finish('end')
    to.end()
  })
  expect(events).toEqual([
    ...['0 thinking', '0 + Hm', '0 end', '1 text', '1 + a', '1 end', '2 redacted_thinking', '2 end'],
    ...['3 text', '3 + u', '3 end', 'end_turn', 'message_stop'],
  ])
})

test('empty arguments are no event, and nothing follows the end', () => {
  const events = written((to) => {
    to.call(0, 'x', 'first')
    to.arguments(0, '')
    to.close(0)
    to.finish('calls')
    to.end()
  })
  expect(events).toEqual(['0 tool_use first', '0 end', 'tool_use', 'message_stop'])
})
