import { expect, test } from 'vitest'
import type { BodyAccess } from '#exchange/bodies.ts'
import { NO_BODIES } from '#exchange/no-bodies.ts'
import { Head } from '#net/http/head.ts'
import { Giver } from '#net/testing/giver.ts'
import { TextSink } from '#net/testing/recording-handler.ts'
import { exchangeWith } from '../../shared/testing.ts'
import { Half } from './half.ts'
import type { ProcessingRequest } from './messages.ts'
import type { MessageModes } from './modes.ts'
import type { Talk } from './talk.ts'

const NONE: MessageModes = { headers: false, body: 'None', trailers: false }
/** More than is buffered for the processor. */
const LONG = 'x'.repeat(10_000)

/** A message with these modes. `trails`: trailers may follow its body. */
function start(modes: Partial<MessageModes>, trails: boolean, message: 'request' | 'response' = 'response') {
  const giver = Object.assign(new Giver(), { trails })
  const sink = new TextSink()
  const exchange = exchangeWith({ status: 200 })
  const access: BodyAccess = {
    ...NO_BODIES[message],
    outgoing: () => giver,
    replace: (body) => {
      if (!(body instanceof Uint8Array)) body.pipe(sink)
      return undefined
    },
  }
  exchange.bodies = { ...NO_BODIES, [message]: access }
  const sent: ProcessingRequest[] = []
  const talk: Talk = {
    exchange,
    modes: { request: { ...NONE, ...modes }, response: { ...NONE, ...modes } },
    isOver: false,
    failure: undefined,
    backed: false,
    send: (part) => void sent.push(part),
    headersAnswered: () => undefined,
    fail: (why) => {
      throw new Error(why)
    },
    changed: () => {},
    settled: () => {},
    finished: () => {},
    abandon: () => {},
  }
  const half = new Half(talk, message)
  const trailers = Head.response(200)
  trailers.append('x-status', 'own')
  void half.start()
  return { giver, half, sent, sink, trailers }
}

const namesOf = (sent: readonly ProcessingRequest[]) => sent.flatMap((part) => Object.keys(part))

test.each([
  ['it wants no trailers', false, true],
  ['there are none', true, false],
])('a processor that has the beginning of a body is done with the message if %s', (_, wants, trails) => {
  const { giver, half, sent, sink } = start({ body: 'BufferedPartial', trailers: wants }, trails)
  giver.give(LONG)
  half.answerBody({})
  expect(half.isOver).toBe(true)
  giver.give('rest')
  giver.sink.end()
  expect([sink.text, sink.ended, namesOf(sent)]).toEqual([`${LONG}rest`, true, ['responseBody']])
})

test.each(['BufferedPartial', 'None'] as const)(
  'with the body mode %s, trailers that follow go to the processor',
  (body) => {
    const { giver, half, sent, sink, trailers } = start({ body, trailers: true }, true)
    giver.give(LONG)
    if (body === 'BufferedPartial') half.answerBody({})
    giver.sink.end(trailers)
    expect(namesOf(sent).at(-1)).toBe('responseTrailers')
    expect([half.isOver, sink.ended]).toEqual([false, false])
    half.answerTrailers({ setHeaders: [{ header: { key: 'x-status', rawValue: Buffer.from('changed') } }] })
    expect([half.isOver, sink.text, sink.trailers?.get('x-status')]).toEqual([true, LONG, 'changed'])
  },
)

test('trailers that may follow, and do not, are not waited for', () => {
  const { giver, half, sent, sink } = start({ trailers: true }, true)
  giver.give('hello')
  expect(half.isOver).toBe(false)
  giver.sink.end()
  expect([half.isOver, sink.ended, sink.text, sent]).toEqual([true, true, 'hello', []])
})

test('a processor that has replaced the whole body of a request ends it before the client does', () => {
  const { giver, half, sink } = start({ body: 'FullDuplexStreamed' }, false, 'request')
  giver.give('old')
  half.answerBody({ bodyMutation: { streamedResponse: { body: Buffer.from('new'), endOfStream: true } } })
  expect([half.isOver, sink.text, sink.ended]).toEqual([true, 'new', true])
})

test('the body of a backend is read to its end after a processor has ended its replacement', () => {
  const { giver, half, sink } = start({ body: 'FullDuplexStreamed' }, false)
  giver.give('old')
  half.answerBody({ bodyMutation: { streamedResponse: { body: Buffer.from('new'), endOfStream: true } } })
  expect([half.isOver, sink.text, sink.ended]).toEqual([true, 'new', false])
  giver.sink.end()
  expect([sink.text, sink.ended]).toEqual(['new', true])
})
