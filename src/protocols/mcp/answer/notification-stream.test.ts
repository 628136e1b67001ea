import { afterEach, expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { BodySink } from '#net/stream.ts'
import { TimerWheel } from '#net/timer-wheel.ts'
import { LocalChannels } from '#state/channels.ts'
import { LocalTable } from '#state/shared-table.ts'
import { parseMessage } from '../message/json-rpc.ts'
import type { TargetMessage } from '../message/target-reply.ts'
import { McpMemory } from '../request/mcp-memory.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import { endSession, NO_SESSION } from '../session/session-state.ts'
import { announceChange, announceEnd } from '../session/session-stream.ts'
import { EventSource, type StreamEvent } from './event-source.ts'
import { NotificationStream } from './notification-stream.ts'

afterEach(() => void vi.restoreAllMocks())

const BACKEND = 'ProxyBackend/default/tools'
const SESSION_A = { target: 'a', sessionId: undefined, version: '', endpoint: undefined }
const session = {
  ...NO_SESSION,
  key: 's',
  targets: [{ ...SESSION_A, capabilities: new Set(['tools'] as const) }],
}

/** Messages of a target, given by the test. */
class Messages implements AsyncIterableIterator<TargetMessage> {
  asked = 0
  closed = 0
  #read = Promise.withResolvers<IteratorResult<TargetMessage>>();

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<TargetMessage>> {
    this.asked++
    return this.#read.promise
  }

  async return(): Promise<IteratorResult<TargetMessage>> {
    this.closed++
    return { done: true, value: undefined }
  }

  /** The result of the read that waits, or of the next one. */
  async give(method: string | undefined): Promise<void> {
    const message = parseMessage(JSON.stringify({ jsonrpc: '2.0', method: `notifications/${method}` }))
    const value = { message, eventId: undefined, retryMs: undefined, keep: () => {} } as TargetMessage
    this.#settle((read) =>
      read.resolve(method === undefined ? { done: true, value: undefined } : { done: false, value }),
    )
    await turn()
  }

  async break(error: Error): Promise<void> {
    this.#settle((read) => read.reject(error))
    await turn()
  }

  #settle(settle: (read: PromiseWithResolvers<IteratorResult<TargetMessage>>) => void): void {
    const read = this.#read
    this.#read = Promise.withResolvers()
    settle(read)
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

const nameOf = ({ message }: TargetMessage): StreamEvent | undefined => {
  const text = message?.kind === 'notification' ? message.method.slice('notifications/'.length) : ''
  if (text === 'bad') throw new Error('a bad message')
  return text === 'hidden' ? undefined : { text, isLast: text === 'last' }
}

function start({ count = 1, outlastsSources = false, target = 'a' } = {}) {
  const times = { ms: 0 }
  vi.spyOn(clock, 'now').mockImplementation(() => times.ms)
  vi.spyOn(clock, 'monotonic').mockImplementation(() => times.ms)
  const wheel = new TimerWheel()
  const remove = vi.spyOn(wheel, 'remove')
  const client = new AbortController()
  const channels = new LocalChannels('w1')
  const memory = new McpMemory()
  const table = new LocalTable()
  const targets = Array.from({ length: count }, () => new Messages())
  const ended: string[] = []
  const exchange = {} as Exchange
  const request = {
    plan: { backend: BACKEND, targets: target === '' ? [] : [{ name: target }] },
    exchange,
    deps: { signal: client.signal, channels, memory, table },
  } as unknown as McpRequest
  const sources = targets.map((messages) => new EventSource(messages, nameOf))
  const stop = () => ended.push('stopped')
  const stream = new NotificationStream({ request, session, sources, outlastsSources, stop }, wheel)
  stream.whenOver(() => ended.push('over'))
  const read = async () => {
    const { done, value } = await stream.next()
    return done === true ? undefined : new TextDecoder().decode(value)
  }
  const pass = (ms: number) => {
    times.ms += ms
    wheel.advance()
  }
  return { stream, read, pass, times, client, channels, memory, table, targets, ended, exchange, remove }
}

const event = (text: string) => `event: message\ndata: ${text}\n\n`

test('events arrive in order, and a source is read only when its last event was taken', async () => {
  const { read, targets } = start({ count: 2 })
  const [one, other] = targets as [Messages, Messages]
  const first = read()
  await one.give('a')
  expect(await first).toBe(event('a'))
  await other.give('b')
  await one.give('hidden')
  await one.give('c')
  expect([one.asked, other.asked]).toEqual([3, 1])
  expect([await read(), await read()]).toEqual([event('b'), event('c')])
  expect([one.asked, other.asked]).toEqual([4, 2])
})

test('news are events, of which 16 wait for the client beside those of targets', async () => {
  const { read, channels, targets } = start()
  const first = read()
  await targets[0]!.give('a')
  await targets[0]!.give('b')
  for (let i = 0; i < 20; i++) await announceChange(channels, 's', new Set(['tools']))
  await announceEnd(channels, 's')
  const texts = [await first]
  for (let text = await read(); text !== undefined; text = await read()) texts.push(text)
  expect([texts.length, texts[1]]).toEqual([18, event('b')])
  expect(texts[2]).toContain('notifications/tools/list_changed')
})

test('a comment follows 15 s of silence, as often as needed, but not while the client is behind', async () => {
  const { read, pass, targets } = start()
  for (let i = 0; i < 2; i++) {
    const silent = read()
    pass(14_000)
    pass(1500)
    expect(await silent).toBe(': \n\n')
  }
  pass(60_000)
  const next = read()
  await targets[0]!.give('a')
  expect(await next).toBe(event('a'))
})

test('it counts as use of the session every ten minutes, and when it ends', async () => {
  const { stream, read, pass, times, table } = start()
  const used: number[] = []
  const set = vi.spyOn(table, 'set').mockImplementation((_, key, ms) => {
    expect(key).toBe('s')
    used.push(Number(ms))
  })
  while (times.ms < 31 * 60_000) {
    const silent = read()
    pass(15_000)
    pass(1000)
    await silent
  }
  expect(used.map((ms) => Math.floor(ms / 60_000))).toEqual([10, 20, 30])
  await stream.return()
  expect([used.length, used.at(-1)]).toEqual([4, times.ms])
  expect(set).toHaveBeenCalledTimes(4)
})

const ENDS: Readonly<Record<string, (started: ReturnType<typeof start>) => unknown>> = {
  'its source ends': ({ targets }) => targets[0]!.give(undefined),
  'its source fails': ({ targets }) => targets[0]!.break(new Error('lost')),
  'its source breaks off because the client leaves': ({ client, targets }) => {
    client.abort()
    return targets[0]!.break(new Error('cancelled'))
  },
  'a message cannot be translated': ({ targets }) => targets[0]!.give('bad'),
  'the client leaves': ({ stream }) => stream.cancel(),
  'the session ends': ({ channels }) => announceEnd(channels, 's'),
  'the response is given up': ({ stream }) => stream.return(),
}

test.each(Object.keys(ENDS))('it ends cleanly and once when %s, and keeps nothing', async (how) => {
  const started = start()
  const { stream, read, targets, ended, memory, channels, exchange, remove } = started
  const last = read()
  await ENDS[how]!(started)
  expect(await last).toBeUndefined()
  expect(await read()).toBeUndefined()
  await stream.return()
  expect(ended).toEqual(['stopped', 'over'])
  expect(targets[0]!.closed).toBe(1)
  expect(remove).toHaveBeenCalledOnce()
  expect(channels.openChannels).toEqual([])
  const changed = vi.spyOn(stream, 'changed')
  memory.streams.replaced(BACKEND, ['other'])
  expect(changed).not.toHaveBeenCalled()
  const noted = { 'its source fails': 'lost', 'a message cannot be translated': 'a bad message' } as Record<
    string,
    string
  >
  expect(exchange.refusalDetail).toBe(noted[how])
})

test('when the backend has other targets, the client hears of new lists, and the stream ends', async () => {
  const { read, memory } = start()
  const first = read()
  memory.streams.replaced(BACKEND, ['a'])
  memory.streams.replaced(BACKEND, ['a', 'b'])
  expect(await first).toContain('notifications/tools/list_changed')
  expect(await read()).toBeUndefined()
})

test('its last event reaches the client', async () => {
  const { read, targets, ended } = start()
  const last = read()
  await targets[0]!.give('last')
  expect([await last, await read()]).toEqual([event('last'), undefined])
  expect(ended).toEqual(['stopped', 'over'])
})

test('it may outlast its sources', async () => {
  const { read, targets, channels } = start({ outlastsSources: true })
  const next = read()
  await targets[0]!.give(undefined)
  await announceChange(channels, 's', new Set(['prompts']))
  expect(await next).toContain('notifications/prompts/list_changed')
})

test('given up before it is read, it keeps nothing', async () => {
  const { stream, read, targets, ended } = start()
  await stream.return()
  expect([ended, targets[0]!.closed, targets[0]!.asked]).toEqual([['stopped', 'over'], 1, 0])
  expect(await read()).toBeUndefined()
})

/** A client that is sent events, and takes more of them while `room` says so. */
function piped(options?: Parameters<typeof start>[0]) {
  const started = start(options)
  const state = { room: true }
  const got: string[] = []
  const sink: BodySink = {
    takesFramed: false,
    source: null,
    get backed() {
      return !state.room
    },
    bytes: (buffer, from, to) => got.push(buffer.toString('utf8', from, to)),
    end: () => got.push('<end>'),
    abort: (why) => got.push(`<${why}>`),
  }
  return { ...started, state, got, sink }
}

test('piped: a client gets events as they arrive, and later what it could not take', async () => {
  const { stream, sink, state, got, targets, channels } = piped()
  stream.pipe(sink)
  await targets[0]!.give('a')
  state.room = false
  await targets[0]!.give('b')
  await announceChange(channels, 's', new Set(['tools']))
  expect([got, targets[0]!.asked]).toEqual([[event('a')], 2])
  state.room = true
  sink.source!.resume()
  expect(got.slice(0, 2)).toEqual([event('a'), event('b')])
  expect(got[2]).toContain('tools/list_changed')
  expect([got.length, targets[0]!.asked]).toEqual([3, 3])
})

test('piped: a comment follows 15 s of silence, but not while the client is behind', async () => {
  const { stream, sink, state, got, targets, pass } = piped()
  stream.pipe(sink)
  const passSilence = () => {
    pass(15_000)
    pass(1000)
  }
  passSilence()
  passSilence()
  state.room = false
  passSilence()
  state.room = true
  sink.source!.resume()
  pass(10_000)
  await targets[0]!.give('a')
  pass(10_000)
  expect(got).toEqual([': \n\n', ': \n\n', event('a')])
  passSilence()
  expect(got.at(-1)).toBe(': \n\n')
})

test('piped: what waits is sent before the end, and nothing after a client has left', async () => {
  const ended = piped()
  ended.stream.pipe(ended.sink)
  ended.state.room = false
  await ended.targets[0]!.give('last')
  await ended.targets[0]!.give('more')
  await announceEnd(ended.channels, 's')
  ended.state.room = true
  ended.stream.resume()
  expect(ended.got).toEqual([event('last'), '<end>'])

  const left = piped()
  left.stream.pipe(left.sink)
  left.state.room = false
  await left.targets[0]!.give('a')
  left.stream.cancel()
  left.state.room = true
  left.stream.resume()
  expect([left.got, left.ended]).toEqual([[], ['stopped', 'over']])
})

test('piped: a stream that is over ends at once', () => {
  const { stream, sink, got } = piped()
  stream.cancel()
  stream.pipe(sink)
  expect(got).toEqual(['<end>'])
})

test('a stream without targets tells the client when there are some again, and ends', async () => {
  const { read, memory } = start({ count: 0, outlastsSources: true, target: '' })
  const first = read()
  memory.streams.replaced(BACKEND, ['a'])
  expect(await first).toContain('notifications/tools/list_changed')
  expect(await read()).toBeUndefined()
})

test.each(['read', 'piped'])('a stream whose session ends before it begins is over at once: %s', async (how) => {
  const { stream, read, table, channels, ended, targets } = start()
  endSession(session, table)
  if (how === 'read') expect(await read()).toBeUndefined()
  else {
    const end = vi.fn()
    stream.pipe({ source: null, backed: false, bytes: () => {}, end } as unknown as BodySink)
    expect(end).toHaveBeenCalledOnce()
  }
  expect(ended).toEqual(['stopped', 'over'])
  expect([targets[0]!.asked, targets[0]!.closed, channels.openChannels]).toEqual([0, 1, []])
})
