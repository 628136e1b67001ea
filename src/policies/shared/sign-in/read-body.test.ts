import { expect, test } from 'vitest'
import type { CallResponse } from '#exchange/call.ts'
import { FailedCall } from '#exchange/failed-call.ts'
import { readBody } from './read-body.ts'

const MAX_BYTES = 8

function responseOf(body: CallResponse['body'], coding?: string): CallResponse {
  const header = (name: string) => (name === 'content-encoding' ? coding : undefined)
  return { status: 200, endpoint: '127.0.0.1:80', headers: [], header, body, trailer: () => undefined }
}

async function* pieces(...texts: readonly string[]) {
  for (const text of texts) yield Buffer.from(text, 'latin1')
}

test.each([
  ['nothing', [], ''],
  ['several pieces', ['ab', 'c', 'def'], 'abcdef'],
  ['as many bytes as may be', ['abcd', 'efgh'], 'abcdefgh'],
  ['a character in two pieces', ['a\xc3', '\xa9'], 'aé'],
])('%s', async (_, texts, body) => {
  expect(await readBody(responseOf(pieces(...texts)), MAX_BYTES)).toBe(body)
  expect(await readBody(responseOf(pieces(...texts), 'Identity'), MAX_BYTES)).toBe(body)
})

test.each([
  ['a byte too much', ['abcd', 'efghi'], 'the response has more than 8 bytes'],
  ['what is not UTF-8', ['\xc3'], 'the response is not UTF-8'],
])('%s', async (_, texts, detail) => {
  expect(await readBody(responseOf(pieces(...texts)), MAX_BYTES)).toEqual(new FailedCall('response-invalid', detail))
})

test('a compressed response is closed, if it can be', async () => {
  const compressed = new FailedCall('response-invalid', 'the response is compressed')
  let closed = 0
  const iterator = {
    next: async () => ({ done: true, value: undefined }) as const,
    return: async () => {
      closed++
      return { done: true, value: undefined } as const
    },
  }
  expect(await readBody(responseOf({ [Symbol.asyncIterator]: () => iterator }, 'gzip'), MAX_BYTES)).toEqual(compressed)
  expect(closed).toBe(1)
  const { next } = iterator
  expect(await readBody(responseOf({ [Symbol.asyncIterator]: () => ({ next }) }, 'gzip'), MAX_BYTES)).toEqual(
    compressed,
  )
})
