import { expect, test } from 'vitest'
import { afterBody } from './after-body.ts'

const encoder = new TextEncoder()

async function* pieces(failing = false): AsyncGenerator<Uint8Array> {
  yield encoder.encode('a')
  if (failing) throw new Error('broken')
  yield encoder.encode('b')
}

const answerWith = (body: Uint8Array | AsyncIterable<Uint8Array> | undefined) => ({ status: 200, headers: [], body })

test.each([undefined, encoder.encode('x')])('a body that is whole is over at once', (body) => {
  let ends = 0
  expect(afterBody(answerWith(body), () => ends++).body).toBe(body)
  expect(ends).toBe(1)
})

test.each(['read to its end', 'broken', 'abandoned', 'abandoned before its begin'])(
  'a stream that is %s',
  async (how) => {
    let ends = 0
    const body = afterBody(answerWith(pieces(how === 'broken')), () => ends++).body as AsyncIterable<Uint8Array>
    const iterator = body[Symbol.asyncIterator]()
    if (how !== 'abandoned before its begin') expect((await iterator.next()).value).toEqual(encoder.encode('a'))
    expect(ends).toBe(0)
    if (how === 'broken') await expect(iterator.next()).rejects.toThrow('broken')
    else if (how === 'read to its end') {
      await iterator.next()
      expect((await iterator.next()).done).toBe(true)
    }
    await iterator.return?.()
    expect(ends).toBe(1)
  },
)
