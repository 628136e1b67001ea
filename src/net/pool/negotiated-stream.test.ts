import { expect, test, vi } from 'vitest'
import { WaitingLine } from '../connect/waiting-line.ts'
import { Head } from '../http/head.ts'
import type { Http1Pool } from '../http1/client-pool.ts'
import { BODY_CHUNKED, type BodySource, type ClientHandler } from '../stream.ts'
import { destinationOf } from '../testing/raw-peers.ts'
import { TextSink } from '../testing/recording-handler.ts'
import { TimerWheel } from '../timer-wheel.ts'
import { NegotiatedStream } from './negotiated-stream.ts'

test.each([
  [false, 1],
  [true, 0],
])('the source of a body goes on if the stream takes more (full: %s)', (backed, resumed) => {
  const wheel = new TimerWheel()
  const stream = new NegotiatedStream({
    head: Head.request('POST', '/'),
    framing: { kind: BODY_CHUNKED, length: -1 },
    handler: {} as ClientHandler,
    context: undefined,
    responseTimeoutMs: 0,
    wheel,
    line: new WaitingLine({ wheel, timeoutMs: 1000, tooLate: vi.fn() }),
    isDialling: () => true,
  })
  const resume = vi.fn()
  stream.request.source = { resume } as unknown as BodySource
  stream.request.bytes(Buffer.from('held'), 0, 4)
  const sink = Object.assign(new TextSink(), { backed })
  stream.sendTo({ send: () => ({ request: sink }) } as unknown as Http1Pool, destinationOf(1))
  expect([sink.text, resume.mock.calls.length]).toEqual(['held', resumed])
})
