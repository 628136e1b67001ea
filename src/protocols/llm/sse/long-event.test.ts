import { expect, test } from 'vitest'
import { wantedMembers } from '../json/member-reader.ts'
import { LongEvent } from './long-event.ts'

const MEMBERS = wantedMembers(['type', 'usage', 'error', 'response.id', 'response.error'])

/** What is left of an event, in pieces of this size. */
function reduced(text: string, size: number) {
  const event = new LongEvent(MEMBERS)
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) event.push(bytes, at, Math.min(at + size, bytes.length))
  return { text: Buffer.from(event.reduced).toString(), isWhole: event.isWhole }
}
const long = 'x'.repeat(70_000)

test.each<[event: string, name: string, json: string]>([
  ['event: message\ndata: {"type":"a","usage":{"n":1.50},"b":2}\n\n', 'message', '{"type":"a","usage":{"n":1.50}}'],
  ['event:message\ndata:{"type":"a"}\n\n', 'message', '{"type":"a"}'],
  ['data: {"usage":1}\nevent: b\n\n', 'b', '{"usage":1}'],
  ['event: a\nevent: b\ndata: {"usage":1}\n\n', 'b', '{"usage":1}'],
  ['event: a\r\ndata: {"usage":1,\r\ndata: "type":"t"}\r\n\r\n', 'a', '{"type":"t","usage":1}'],
  ['event: a\rdata: {"usage":1}\r\r', 'a', '{"usage":1}'],
  ['id: 1\n: c\nevents: c\ndataset: {"usage":2}\ndata: {"usage":1}\n\n', '', '{"usage":1}'],
  [':data: {"usage":2}\n:event: c\ndata: {"usage":1}\n\n', '', '{"usage":1}'],
  ['\ufeffdata: {"usage":1}\n\n', '', '{"usage":1}'],
  ['\ufeffevent: a\ndata: {"usage":1}\n\n', 'a', '{"usage":1}'],
  ['data: {"response":{"id":"r","other":1}}\n\n', '', '{"response":{"id":"r"}}'],
  ['data: {"response":{"id":"r","error":"e"}}\n\n', '', '{"response":{"id":"r","error":"e"}}'],
  // An error is one however long it is; of other members, nothing is left.
  [`data: {"error":{"message":"${long}"}}\n\n`, '', '{"error":{}}'],
  [`data: {"response":{"error":{"message":"${long}"}}}\n\n`, '', '{"response":{"error":{}}}'],
  [`data: {"usage":{"message":"${long}"},"type":"t"}\n\n`, '', '{"type":"t"}'],
  [`event: ${'n'.repeat(200)}\ndata: {"usage":1}\n\n`, 'n'.repeat(128), '{"usage":1}'],
])('of a long event, its name and some members are left: %.60j', (event, name, json) => {
  for (const size of [event.length, 7, 1]) {
    expect(reduced(event, size)).toEqual({ text: `event: ${name}\ndata: ${json}\n\n`, isWhole: true })
  }
})

test('an event whose object has not ended is not whole', () => {
  expect(reduced('data: {"usage":1,', 1).isWhole).toBe(false)
})
