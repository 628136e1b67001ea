import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import type { Peer } from '#net/peer.ts'
import { Exchange } from './exchange.ts'

const PEER: Peer = {
  remoteAddress: '192.0.2.1',
  remotePort: 4711,
  rawAddress: '192.0.2.1',
  rawPort: 4711,
  localAddress: '127.0.0.1',
  localPort: 8080,
  secure: false,
  serverName: undefined,
  certificate: undefined,
}

test('nothing has happened in a new exchange', () => {
  expect(new Exchange(Head.request('GET', '/'), PEER)).toMatchObject({
    exceeded: undefined,
    queuedHeaders: undefined,
    attempts: undefined,
    retries: 0,
    refusal: undefined,
    refusalDetail: undefined,
    responseIsRefusal: false,
    reason: 'Upstream',
    trace: undefined,
  })
})
