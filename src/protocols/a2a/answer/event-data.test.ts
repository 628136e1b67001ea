import { expect, test } from 'vitest'
import { EventData } from './event-data.ts'

function read(text: string, size: number): string[] {
  let data = ''
  const events: string[] = []
  const lines = new EventData(
    (bytes, start, end) => {
      data += Buffer.from(bytes).toString('latin1', start, end)
    },
    () => {
      events.push(data)
      data = ''
    },
  )
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) lines.push(bytes, at, Math.min(bytes.length, at + size))
  return [...events, data]
}

test.each<[text: string, events: readonly string[]]>([
  ['data: 1\n\ndata: 2\n\n', [' 1', ' 2', '']],
  ['data:1\r\n\r\ndata:2\r\n\r\n', ['1', '2', '']],
  ['data:1\r\rdata:2\r\r', ['1', '2', '']],
  ['id: 7\nevent: x\n: data:no\ndata:{\ndata:}\n\n', ['{}', '']],
  ['dat\ndatax:1\nDATA:1\ndata\ndata:\n\n', ['', '']],
  ['data:1\n\n\n\ndata:2', ['1', '', '', '2']],
])('%j', (text, events) => {
  for (const size of [1, 2, 3, 4096]) expect(read(text, size), `${size}`).toEqual(events)
})
