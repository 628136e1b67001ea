import { expect, test } from 'vitest'
import { roomFor } from '#net/testing/room-for.ts'
import { Collector } from '../testing.ts'
import { ErrorAnswer } from './error-answer.ts'

const filterOf = (maxNative?: number) =>
  new ErrorAnswer({
    ...{ type: 'Completions', status: 429, claim: roomFor(2 ** 20).claim, secret: undefined },
    ...(maxNative !== undefined && { maxNative }),
  })

function written(body: string, maxNative?: number): string {
  const collector = new Collector()
  const sink = filterOf(maxNative).into(collector)
  const bytes = Buffer.from(body)
  for (let at = 0; at < bytes.length; at += 1000) sink.bytes(bytes, at, Math.min(at + 1000, bytes.length))
  sink.end()
  return collector.text
}
const messageOf = (body: string) => (JSON.parse(body) as { error: { message: string } }).error.message

test.each([
  ['reset', 1, undefined],
  ['cancelled', 0, 'cancelled'],
] as const)(
  'of an error that ends with %s, what has arrived is read unless the client has disconnected',
  (why, ended, aborted) => {
    const collector = new Collector()
    const sink = filterOf().into(collector)
    const bytes = Buffer.from('{"message":"busy"')
    sink.bytes(bytes, 0, bytes.length)
    sink.abort(why)
    expect([collector.ended, collector.aborted, collector.text.includes('busy')]).toEqual([ended, aborted, ended === 1])
  },
)

/** An error of another API, of so many bytes. */
const foreign = (length: number) => `{"message":"busy","rest":"${'x'.repeat(length - 28)}"}`

test('an error is written whole, with another length', () => {
  const { changesLength, whole } = filterOf()
  expect([changesLength, whole]).toEqual([true, true])
})

test('of a translated error, 64 KiB are read', () => {
  expect(foreign(65_536)).toHaveLength(65_536)
  expect(messageOf(written(foreign(65_536)))).toBe('busy')
  expect(messageOf(written(foreign(65_537)))).toBe(foreign(65_537).slice(0, 2048))
})

test('an error in the API of the client passes up to its limit', () => {
  const native = `{"error":{"message":"busy","type":"t","own":1.0}}`
  expect(written(native, native.length)).toBe(native)
  expect(messageOf(written(native, native.length - 1))).toBe(native.slice(0, -1))
  expect(written(native)).not.toContain('own')
})
