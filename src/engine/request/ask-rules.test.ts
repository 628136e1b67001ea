import { expect, test } from 'vitest'
import type { Exchange } from '#exchange/exchange.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { buildChain, type ChainLink } from '../merge/chain.ts'
import { askRules } from './ask-rules.ts'

/** A chain with these answers of its policies; undefined: a policy that does not read bodies. */
function chainOf(...rules: readonly (((exchange: Exchange) => boolean) | undefined)[]) {
  const merged = { field: 'a', sources: [], overridden: [] }
  const links = rules.map((allows): ChainLink => ({ merged, run: allows === undefined ? {} : { allows } }))
  return buildChain('after-routing' as never, links, [])
}

const bytes = (text: string) => new TextEncoder().encode(text)

test('without rules about bodies there is nobody to ask', () => {
  expect(askRules([undefined, chainOf(undefined)], exchangeWith(), 'POST', '/c')).toBe(undefined)
})

test('rules see the other request of the same client, and change nothing in the one that it sent', () => {
  const exchange = exchangeWith({ target: '/models?a', headers: { 'x-team': 'red' } })
  exchange.identity.jwt = { claims: { sub: 'alice' }, token: 't' }
  exchange.metadata = { a: 1 }
  exchange.request.set('authorization', 'Bearer of the backend')
  const seen: unknown[] = []
  const ask = askRules(
    [
      chainOf(({ request, requestBody, identity, metadata }) => {
        const body = new TextDecoder().decode(requestBody.whole)
        seen.push([request.method, request.target, body, request.get('x-team'), request.get('authorization')])
        seen.push([identity.jwt?.claims.sub, metadata])
        return body !== 'no'
      }),
      chainOf(undefined, (imagined) => {
        imagined.exceeded = 'steps'
        return true
      }),
    ],
    exchange,
    'POST',
    '/chat',
  )!
  expect([ask(bytes('yes')), ask(bytes('no'))]).toEqual([true, false])
  expect(seen.slice(0, 2)).toEqual([
    ['POST', '/chat', 'yes', 'red', undefined],
    ['alice', { a: 1 }],
  ])
  const { request, requestBody, exceeded } = exchange
  expect([request.method, request.target, requestBody.kind, exceeded]).toEqual([
    'GET',
    '/models?a',
    'unread',
    undefined,
  ])
})
