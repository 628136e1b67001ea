import { expect, test } from 'vitest'
import { type ExchangeInputs, exchangeWith } from '#policies/shared/testing.ts'
import { backendItem, listenerItem, livePlan, policyItem, routeItem, toBackend } from '../testing.ts'
import { Decision, decide } from './decide.ts'

const PATH = '/.well-known/acme-challenge/'
const DENY = policyItem('traffic.authorization', 'Gateway/default/main', {
  action: 'Deny',
  policy: { matchExpressions: ['true'] },
})
const AT = [listenerItem({ acmeThumbprint: 'thumb' }), listenerItem()].map((listener) =>
  livePlan(listener, routeItem('r', { backends: toBackend('b') }), backendItem('b')),
)

async function ask(target: string, inputs: ExchangeInputs = {}, at = AT[0]!): Promise<string> {
  const exchange = exchangeWith({ target, ...inputs })
  const outcome = await decide({ index: at.plan.index, socket: at.socket, random: () => 0 }, exchange, new Decision())
  if (outcome?.kind === 'answer') return `${outcome.head.status} ${outcome.body}`
  return outcome?.code ?? 'forwarded'
}

test('a challenge is answered with its token and the thumbprint of the account', async () => {
  expect(await ask(`${PATH}aZ-_09`)).toBe('200 aZ-_09.thumb')
  expect(await ask(`${PATH}a`, { method: 'HEAD' })).toBe('200 a.thumb')
})

test.each([
  ['a listener of a Gateway without ACME', () => ask(`${PATH}a`, {}, AT[1])],
  ['another method', () => ask(`${PATH}a`, { method: 'POST' })],
  ['no token', () => ask(PATH)],
  ['a text that is no token', () => ask(`${PATH}<script>`)],
  ['a deeper path', () => ask(`${PATH}a/b`)],
  ['a query', () => ask(`${PATH}a?b`)],
  ['a token that is too long', () => ask(PATH + 'a'.repeat(129))],
  ['another path', () => ask('/.well-known/acme-challenges/a')],
])('%s is routed', async (_, asked) => {
  expect(await asked()).toBe('forwarded')
})

test('policies do not refuse a challenge', async () => {
  const listener = listenerItem({ acmeThumbprint: 'thumb' })
  const at = livePlan(listener, routeItem('r', { backends: toBackend('b') }), backendItem('b'), DENY)
  expect(await ask('/', {}, at)).not.toBe('forwarded')
  expect(await ask(`${PATH}a`, {}, at)).toBe('200 a.thumb')
})
