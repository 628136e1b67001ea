import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { Head } from '../http/head.ts'
import { BODY_CHUNKED, type BodySink, type BodySource } from '../stream.ts'
import { RESPONSE_DECODING } from './response-decoding.ts'

/** A sink that may be full, and a source that notes what is asked of it. */
function setup(coding = 'gzip') {
  const log: string[] = []
  const stops: (() => void)[] = []
  const receiver = {
    backed: false,
    source: null as BodySource | null,
    takesFramed: true,
    text: '',
    bytes(buffer: Buffer, start: number, end: number) {
      this.text += buffer.toString('latin1', start, end)
    },
    end: (trailers?: Head) => log.push(`end ${trailers?.joined('x') ?? ''}`),
    abort: (why: string) => log.push(`abort ${why}`),
  }
  const wrapped = RESPONSE_DECODING.into(coding)!(receiver as BodySink, {
    damaged: () => log.push('damaged'),
    cancel: () => log.push('cancel'),
    whenOver: (stop) => stops.push(stop),
  })
  wrapped.source = {
    kind: BODY_CHUNKED,
    length: -1,
    pipe() {},
    pause: () => log.push('pause'),
    resume: () => log.push('resume'),
  }
  const over = () => {
    for (const stop of stops) stop()
  }
  const give = (bytes: Buffer) => wrapped.bytes(bytes, 0, bytes.length)
  return { receiver, wrapped, log, give, over }
}

const LONG = Buffer.from(Array.from({ length: 300_000 }, (_, index) => 97 + ((index * index) % 23)))

test('an unknown coding', () => {
  expect(RESPONSE_DECODING.into('compress')).toBeUndefined()
})

test('the memory of the source may be used again at once', async () => {
  const { receiver, wrapped, log, give } = setup()
  const bytes = gzipSync('hello')
  give(bytes)
  bytes.fill(0)
  wrapped.end(trailers())
  await eventually('the end', () => log.length > 0 || undefined)
  expect([receiver.text, log]).toEqual(['hello', ['end 1']])
})

test.each([
  ['deflate', deflateSync('hello')],
  ['deflate', deflateSync('hello', { level: 0, windowBits: 9 })],
  ['deflate', deflateRawSync('hello')],
  ['deflate', deflateRawSync('hello', { level: 0 })],
  ['deflate', deflateRawSync('hello', { strategy: constants.Z_FIXED })],
  ['gzip', gzipSync('hello')],
  ['br', brotliCompressSync('hello')],
  ['zstd', zstdCompressSync('hello')],
])('%s that arrives byte by byte', async (coding, bytes) => {
  const { receiver, wrapped, log, give } = setup(coding)
  for (const byte of bytes) give(Buffer.from([byte]))
  wrapped.end()
  await eventually('the end', () => log.length > 0 || undefined)
  expect([receiver.text, log]).toEqual(['hello', ['end ']])
})

test('the rest of a body whose source has ended passes when the sink has room again', async () => {
  const { receiver, wrapped, log, give } = setup()
  receiver.backed = true
  give(gzipSync(LONG))
  wrapped.end()
  wrapped.source = null
  await eventually('the sink is full', () => receiver.text.length > 0 || undefined)
  expect(log).toEqual([])
  receiver.source?.pause()
  receiver.backed = false
  receiver.source?.resume()
  await eventually('the end', () => log.includes('end ') || undefined)
  expect(receiver.text).toBe(LONG.toString('latin1'))
})

function trailers(): Head {
  const head = Head.response(200)
  head.set('x', '1')
  return head
}

test('a sink can stop the source itself', () => {
  const { receiver, log } = setup()
  receiver.source!.pause()
  expect(log).toEqual(['pause'])
})

test('a body without bytes', () => {
  const { wrapped, log, give } = setup()
  expect(wrapped.backed).toBe(false)
  give(Buffer.alloc(0))
  wrapped.end()
  expect(log).toEqual(['end '])
})

test('a sink that is full stops the decoder, which stops the source', async () => {
  const { receiver, wrapped, log, give } = setup()
  receiver.backed = true
  const bytes = gzipSync(LONG)
  give(bytes.subarray(0, 100))
  expect(wrapped.backed).toBe(true)
  for (let at = 100; at < bytes.length; at += 1000) give(bytes.subarray(at, at + 1000))
  await new Promise((resolve) => setTimeout(resolve, 50))
  const { length } = receiver.text
  expect(length).toBeLessThan(100_000)
  receiver.source!.resume()
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(receiver.text.length).toBe(length)
  expect(log).toEqual([])
  receiver.backed = false
  receiver.source!.resume()
  await eventually('the source goes on', () => log.includes('resume') || undefined)
  expect(wrapped.backed).toBe(false)
  wrapped.end()
  await eventually('the end', () => log.includes('end ') || undefined)
  expect(receiver.text).toBe(LONG.toString())
})

test('what has arrived of a broken body is decoded before its end', async () => {
  const { receiver, wrapped, log, give } = setup()
  give(gzipSync('hello').subarray(0, -8))
  wrapped.abort('reset')
  await eventually('the end', () => log.length > 0 || undefined)
  expect([receiver.text, log]).toEqual(['hello', ['abort reset']])
})

test('a cancelled body is over at once', () => {
  const { wrapped, log, give } = setup()
  give(gzipSync('hello'))
  wrapped.abort('cancelled')
  expect(log).toEqual(['abort cancelled'])
})

test('a damaged body is broken, and its rest is cancelled', async () => {
  const { wrapped, log, give } = setup()
  give(Buffer.from('no gzip'))
  await eventually('the end', () => log.includes('cancel') || undefined)
  give(gzipSync('hello'))
  wrapped.end()
  wrapped.abort('reset')
  expect(log).toEqual(['damaged', 'abort protocol-error', 'cancel'])
})

test('nothing arrives after the request is over', async () => {
  const { receiver, wrapped, log, give, over } = setup()
  give(gzipSync('hello'))
  over()
  wrapped.end()
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect([receiver.text, log]).toEqual(['', []])
})

test.each([
  ['br', brotliCompressSync('hello')],
  ['zstd', zstdCompressSync('hello')],
] as const)('bytes after the end of the contents in %s do not hold up the end', async (coding, bytes) => {
  const { receiver, wrapped, log, give } = setup(coding)
  give(Buffer.concat([bytes, Buffer.from('garbage')]))
  await eventually('the text', () => receiver.text === 'hello' || undefined)
  wrapped.end()
  await eventually('the end', () => log.length > 0 || undefined)
  expect(log[0]).toMatch(/end|damaged/)
})
