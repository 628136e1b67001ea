import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { MemberReader, wantedMembers } from '../json/member-reader.ts'
import { Collector } from '../testing.ts'
import { JsonAnswer } from './json-answer.ts'

function forwarded(body: string, reports = true) {
  const found: unknown[] = []
  const client = new Collector()
  const reader = new MemberReader(wantedMembers(['id']), (key, value) => found.push([key, value, client.text]), {
    claim: roomFor(0).claim,
  })
  const faults: string[] = []
  const answer = new JsonAnswer(client, reader, reports ? (fault) => faults.push(fault) : undefined)
  const bytes = Buffer.from(`--${body}--`)
  answer.bytes(bytes, 2, bytes.length - 2)
  const trailers = Head.response(200)
  answer.end(trailers)
  expect([client.text, client.calls, client.ended, client.trailers]).toEqual([body, 1, 1, trailers])
  return { found, faults }
}

test('an answer is read before it is forwarded', () => {
  expect(forwarded('{"id":"i"}')).toEqual({ found: [['id', 'i', '']], faults: [] })
})

test.each([
  ['no', ['no-object']],
  ['{"id":', ['incomplete']],
])('%s is forwarded and reported', (body, faults) => {
  expect(forwarded(body).faults).toEqual(faults)
  expect(forwarded(body, false).faults).toEqual([])
})
