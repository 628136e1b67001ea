import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import type { Peer } from '#net/peer.ts'
import { restoreAttemptStart, saveAttemptStart } from './attempt-start.ts'
import { Exchange } from './exchange.ts'

function fromClient(): Exchange {
  const request = Head.request('POST', '/')
  request.append('x-from', 'client')
  return new Exchange(request, {} as Peer)
}

/** Changes everything that a step of an attempt can change. */
function change(exchange: Exchange): void {
  exchange.request.set('x-from', 'attempt')
  exchange.newRequestBody = new Uint8Array([1])
  exchange.scheme = 'https'
  exchange.hostRewritten = true
  exchange.metadata ??= {}
  exchange.metadata.mark = 'attempt'
  exchange.extauthz ??= {}
  exchange.extauthz.user = 'attempt'
  exchange.queueHeader('x-queued', 'attempt')
}

function stateOf({ request, newRequestBody, scheme, hostRewritten, metadata, extauthz, queuedHeaders }: Exchange) {
  return { from: request.get('x-from'), newRequestBody, scheme, hostRewritten, metadata, extauthz, queuedHeaders }
}

const NOTHING_SET = {
  from: 'client',
  newRequestBody: undefined,
  scheme: 'http',
  hostRewritten: false,
  metadata: undefined,
  extauthz: undefined,
  queuedHeaders: undefined,
}
const BODY = new Uint8Array([7])
const ALL_SET = {
  from: 'client',
  newRequestBody: BODY,
  scheme: 'http',
  hostRewritten: false,
  metadata: { mark: 'route' },
  extauthz: { user: 'ann' },
  queuedHeaders: [['x-queued', 'route']],
}

test.each([
  ['nothing', NOTHING_SET, () => {}],
  [
    'everything',
    ALL_SET,
    (exchange: Exchange) => {
      exchange.newRequestBody = BODY
      exchange.metadata = { mark: 'route' }
      exchange.extauthz = { user: 'ann' }
      exchange.queueHeader('x-queued', 'route')
    },
  ],
])('each attempt begins with the state before the first one: %s was set', (_, expected, prepare) => {
  const exchange = fromClient()
  prepare(exchange)
  const start = saveAttemptStart(exchange)
  for (let attempt = 1; attempt <= 2; attempt++) {
    change(exchange)
    restoreAttemptStart(exchange, start)
    expect(stateOf(exchange)).toEqual(expected)
  }
})

test('a name from configuration cannot change the prototype of a copy', () => {
  const exchange = fromClient()
  exchange.metadata = JSON.parse('{ "__proto__": { "a": 1 } }') as Exchange['metadata']
  const { metadata } = saveAttemptStart(exchange)
  expect([Object.keys(metadata!), 'a' in metadata!]).toEqual([['__proto__'], false])
})
