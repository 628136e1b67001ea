import { expect, test } from 'vitest'
import { frameMessage } from '#net/grpc/message-frame.ts'
import type { CardLocation } from './card-location.ts'
import { rewriteGrpcCard } from './rewrite-grpc-card.ts'

const V1 = '/lf.a2a.v1.A2AService/GetExtendedAgentCard'
const V03 = '/a2a.v1.A2AService/GetAgentCard'
const location: CardLocation = {
  clientOrigin: 'https://gw.example',
  clientPath: V1,
  upstreamPath: V1,
  backendAuthority: '10.0.0.5:9000',
}

/** A field with a length. */
function field(number: number, value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value)
  const tag = number < 16 ? [number * 8 + 2] : [((number * 8 + 2) & 0x7f) | 0x80, (number * 8 + 2) >> 7]
  return Buffer.concat([Uint8Array.from([...tag, bytes.length]), bytes])
}
const interfaceOf = (url: string, binding: string) => Buffer.concat([field(1, url), field(2, binding), field(4, '1.0')])
/** A large integer, which must keep its bytes. */
const INTEGER = Buffer.from([0xa0, 0x01, ...Array.from({ length: 9 }, () => 0xff), 0x01])

function rewrite(message: Uint8Array, target = V1): string | undefined {
  const rewritten = rewriteGrpcCard(frameMessage(message), target, 1000, location)
  return rewritten === undefined ? undefined : Buffer.from(rewritten).toString('latin1')
}

const framed = (...fields: Uint8Array[]) => Buffer.from(frameMessage(Buffer.concat(fields))).toString('latin1')

test('a card of 1.0', () => {
  const others = [field(1, 'agent'), INTEGER]
  const card = [
    ...others,
    field(3, interfaceOf('10.0.0.5:9000', 'GRPC')),
    field(3, interfaceOf('http://agent.corp/rpc', 'JSONRPC')),
    field(3, interfaceOf('http://agent.corp/rest', 'HTTP+JSON')),
    field(3, interfaceOf('other.example:9000', 'GRPC')),
    field(6, 'http://agent.corp/docs'),
    field(13, 'signature'),
  ]
  expect(rewrite(Buffer.concat(card))).toBe(
    framed(
      ...others,
      field(3, interfaceOf('gw.example:443', 'GRPC')),
      field(3, interfaceOf('https://gw.example/rpc', 'JSONRPC')),
      field(3, interfaceOf('https://gw.example/rest', 'HTTP+JSON')),
      field(3, interfaceOf('other.example:9000', 'GRPC')),
      field(6, 'http://agent.corp/docs'),
    ),
  )
})

test('a card of 0.3', () => {
  const card = (own: string, http: string) => [
    field(3, own),
    field(14, 'GRPC'),
    field(15, Buffer.concat([field(1, http), field(2, 'JSONRPC')])),
  ]
  const sent = Buffer.concat([...card('agent.corp:80', 'http://agent.corp/rpc'), field(17, 'signature')])
  expect(rewrite(sent, V03)).toBe(framed(...card('gw.example:443', 'https://gw.example/rpc')))
})

test('a card without addresses of the agent keeps its signatures', () => {
  const card = Buffer.concat([field(3, interfaceOf('other.example:9000', 'GRPC')), field(13, 'signature')])
  expect(rewrite(card)).toBe(framed(card))
})

test('an error has no card', () => {
  expect(rewriteGrpcCard(new Uint8Array(0), V1, 1000, location)).toEqual(new Uint8Array(0))
})

const card = field(3, interfaceOf('10.0.0.5:9000', 'GRPC'))
test.each<[what: string, body: Uint8Array, target: string]>([
  ['a compressed message', Uint8Array.from([1, 0, 0, 0, 1, 65]), V1],
  ['two messages', Buffer.concat([frameMessage(card), frameMessage(card)]), V1],
  ['a part of a message', frameMessage(card).subarray(0, -1), V1],
  ['a part of a field', frameMessage(card.subarray(0, -1)), V1],
  ['an interface that is a number', frameMessage(Uint8Array.from([3 * 8, 1])), V1],
  ['a message over the limit', frameMessage(new Uint8Array(1001)), V1],
  ['an unknown version', frameMessage(card), '/x.v2.A2AService/GetExtendedAgentCard'],
  ['no frame', Uint8Array.from([0]), V1],
])('%s is refused', (_, body, target) => {
  expect(rewriteGrpcCard(body, target, 1000, location)).toBe(undefined)
})
