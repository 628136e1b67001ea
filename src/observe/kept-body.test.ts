import { expect, test } from 'vitest'
import { Exchange } from '#exchange/exchange.ts'
import { Head } from '#net/http/head.ts'
import { LOCAL_PEER } from '#test/support/local-peer.ts'
import { bodyRecord, keptBody } from './kept-body.ts'

const bodies: readonly (readonly [name: string, body: Uint8Array | undefined, maxBytes: number, shown: unknown])[] = [
  ['a short text', Buffer.from('hello'), 10, { text: 'hello', isComplete: true }],
  ['a long text', Buffer.from('hello, world'), 5, { text: 'hello', isComplete: false }],
  ['a cut character', Buffer.from('aä'), 2, { text: 'a', isComplete: false }],
  ['bytes that are no text', Uint8Array.of(0x1f, 0x8b, 0xff), 10, { text: undefined, isComplete: false }],
  ['an empty body', new Uint8Array(0), 10, undefined],
  ['a body that was not read', undefined, 10, undefined],
  ['a body, although records have none', Buffer.from('hello'), 0, undefined],
]

for (const [name, body, maxBytes, shown] of bodies) {
  test(`${name} with a limit of ${maxBytes}`, () => {
    const kept = keptBody(body, maxBytes)
    expect(kept && bodyRecord(kept)).toEqual(shown)
  })
}

test('what is kept is a copy', () => {
  const body = Buffer.from('hello')
  const kept = keptBody(body, 10)!
  body.fill(0)
  expect(bodyRecord(kept).text).toBe('hello')
})

test('a body of a backend is kept without the credential of the gateway that it quotes', () => {
  const exchange = new Exchange(Head.request('GET', '/'), LOCAL_PEER)
  exchange.sentCredential = 'Bearer ya29.token'
  const body = Buffer.from('é: ya29.token!')
  expect(bodyRecord(keptBody(body, 20, exchange)!)).toEqual({ text: 'é: <redacted>!', isComplete: true })
  expect(body.toString()).toBe('é: ya29.token!')
  expect(bodyRecord(keptBody(body, 13, exchange)!)).toEqual({ text: 'é: <redacted>', isComplete: false })
})
