import { once } from 'node:events'
import http2 from 'node:http2'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { FixedBody } from '../body/fixed-body.ts'
import { Head } from '../http/head.ts'
import { BODY_CHUNKED, BODY_LENGTH, BODY_NONE, type BodySource, type ServerStream } from '../stream.ts'
import { DATA, END_HEADERS, END_STREAM, HEADERS, headerBlock, RST_STREAM, uint32 } from '../testing/frames.ts'
import { ask } from '../testing/http2-client.ts'
import { answerWith, TextSink } from '../testing/recording-handler.ts'
import { type Limits, SessionRig } from '../testing/session-rig.ts'

let rig: SessionRig
afterEach(() => rig.close())

async function start(onRequest?: (stream: ServerStream) => void, limits?: Limits) {
  rig = await SessionRig.start(limits)
  if (onRequest !== undefined) rig.handler.onRequest = onRequest
  return rig.client()
}

const response = (status: number, fields: Record<string, string> = {}) => {
  const head = Head.response(status)
  for (const [name, value] of Object.entries(fields)) head.append(name, value)
  return head
}

test('a request has the form of HTTP/1.1 and gets a response', async () => {
  let seen = ''
  const client = await start((stream) => {
    seen = `${stream.version} ${stream.head.text}`
    expect([stream.body.kind, stream.body.length]).toEqual([BODY_NONE, 0])
    answerWith(stream, 'hello')
  })
  const answer = await ask(client, [':path', '/p', ':authority', 'a.test', 'x', '1', 'x', '\u00e9'])
  expect(seen).toBe('2 GET /p HTTP/1.1\r\nhost: a.test\r\nx: 1\r\nx: \u00e9\r\n\r\n')
  expect(answer).toMatchObject({ status: 200, body: 'hello', whole: true, resetCode: 0 })
  expect(answer.fields).toEqual([':status', '200', 'content-length', '5'])
  expect(rig.handler.events).toEqual(['request GET /p', 'finished 5'])
})

test('stream objects are reused', async () => {
  const seen = new Set<ServerStream>()
  const client = await start((stream) => {
    seen.add(stream)
    stream.context = (Number(stream.context) || 0) + 1
    answerWith(stream, String(stream.context))
  })
  for (const body of ['1', '2', '3']) expect((await ask(client, {})).body).toBe(body)
  expect(seen.size).toBe(1)
})

test('streams are served concurrently', async () => {
  const waiting: ServerStream[] = []
  const client = await start((stream) => {
    waiting.push(stream)
    if (waiting.length === 3) for (const each of waiting.reverse()) answerWith(each, each.head.target)
  })
  const answers = await Promise.all(['/a', '/b', '/c'].map((path) => ask(client, { ':path': path })))
  expect(answers.map(({ body }) => body)).toEqual(['/a', '/b', '/c'])
})

test.each<[method: string, status: number, kind: 0 | 1 | 2, length: number, fields: string[], body: string]>([
  ['GET', 200, BODY_NONE, 0, ['content-length', '0'], ''],
  ['GET', 200, BODY_LENGTH, 2, ['content-length', '2'], 'ab'],
  ['GET', 200, BODY_CHUNKED, -1, [], 'ab'],
  ['GET', 204, BODY_NONE, 0, [], ''],
  ['GET', 205, BODY_LENGTH, 2, ['content-length', '0'], ''],
  ['GET', 304, BODY_NONE, 7, ['content-length', '7'], ''],
  ['HEAD', 200, BODY_LENGTH, 2, ['content-length', '2'], ''],
  ['HEAD', 200, BODY_CHUNKED, -1, [], ''],
  ['GET', 599, BODY_LENGTH, 2, ['content-length', '2'], 'ab'],
])('%s answered %i with body kind %i and length %i', async (method, status, kind, length, fields, body) => {
  const client = await start((stream) => {
    stream.respond(response(status), kind, length)
    if (kind !== BODY_NONE) stream.response.bytes(Buffer.from('ab'), 0, 2)
    stream.response.end()
  })
  const answer = await ask(client, { ':method': method })
  expect(answer).toMatchObject({ status, body, whole: true })
  expect(answer.fields.slice(2)).toEqual(fields)
})

test('response fields keep order and duplicates; connection-level fields are not sent', async () => {
  const client = await start((stream) => {
    const head = response(200, { 'x-b': '1', 'set-cookie': 'a', date: 'now' })
    head.append('set-cookie', 'b')
    head.append('connection', 'x-b')
    head.append('transfer-encoding', 'chunked')
    head.append('server', 'one')
    head.append('server', 'two')
    stream.respond(head, BODY_NONE, 0)
    stream.response.end()
  })
  expect((await ask(client, {})).fields).toEqual([
    ...[':status', '200', 'x-b', '1', 'set-cookie', 'a', 'date', 'now', 'set-cookie', 'b'],
    ...['server', 'one', 'server', 'two', 'content-length', '0'],
  ])
})

test('the head is sent before a body that is not ready', async () => {
  let finish = () => {}
  const client = await start((stream) => {
    stream.respond(response(200), BODY_CHUNKED, -1)
    finish = () => {
      stream.response.bytes(Buffer.from('late'), 0, 4)
      stream.response.end()
    }
  })
  const stream = client.request({})
  await new Promise((resolve) => stream.on('response', resolve))
  finish()
  expect(await text(stream)).toBe('late')
})

test('interim responses come first', async () => {
  const client = await start((stream) => {
    stream.inform(response(103, { link: '</a>', connection: 'x' }))
    stream.inform(response(100))
    answerWith(stream, 'ok')
    stream.inform(response(103))
  })
  expect(await ask(client, {})).toMatchObject({ informed: [103], status: 200, body: 'ok' })
})

test('a request body with its trailers reaches the sink', async () => {
  const sink = new TextSink()
  const trailers: string[] = []
  const end = sink.end.bind(sink)
  sink.end = (fields?: Head) => {
    fields?.each((name, value) => trailers.push(`${name}: ${value}`))
    end()
  }
  const client = await start((stream) => {
    expect([stream.body.kind, stream.body.length]).toEqual([BODY_CHUNKED, -1])
    sink.onEnd = () => answerWith(stream, sink.text)
    stream.body.pipe(sink)
  })
  const request = client.request({ ':method': 'POST' }, { waitForTrailers: true })
  request.on('wantTrailers', () => request.sendTrailers({ 'x-sum': ['1', '2'], te: 'trailers' }))
  request.end('body')
  expect(await text(request)).toBe('body')
  expect(trailers).toEqual(['x-sum: 1', 'x-sum: 2'])
})

test('trailers that arrive before the body is read are kept', async () => {
  const trailers: string[] = []
  const client = await start((stream) => {
    const sink = new TextSink()
    sink.end = (fields?: Head) => {
      fields?.each((name, value) => trailers.push(`${name}: ${value}`))
      answerWith(stream, sink.text)
    }
    setTimeout(() => stream.body.pipe(sink), 50)
  })
  const request = client.request({ ':method': 'POST' }, { waitForTrailers: true })
  request.on('wantTrailers', () => request.sendTrailers({ 'x-sum': '1' }))
  request.end('body').resume()
  await once(request, 'close')
  expect(trailers).toEqual(['x-sum: 1'])
})

test.each([
  [{ 'content-length': '4' }, BODY_LENGTH, 4],
  [{}, BODY_CHUNKED, -1],
])('a body with %j has kind %i and length %i', async (headers, kind, length) => {
  const sink = new TextSink()
  const client = await start((stream) => {
    expect([stream.body.kind, stream.body.length]).toEqual([kind, length])
    sink.onEnd = () => answerWith(stream, sink.text)
    stream.body.pipe(sink)
  })
  expect((await ask(client, { ':method': 'PUT', ...headers }, 'body')).body).toBe('body')
})

test('100 Continue is sent only when the body has a consumer', async () => {
  const client = await start((stream) => {
    if (stream.head.target === '/no') return answerWith(stream, 'no', 403)
    const sink = new TextSink()
    sink.onEnd = () => answerWith(stream, sink.text)
    stream.body.pipe(sink)
  })
  const expecting = { ':method': 'POST', expect: '100-continue' }
  expect(await ask(client, { ...expecting, ':path': '/yes' }, 'x')).toMatchObject({ informed: [100], body: 'x' })
  expect(await ask(client, { ...expecting, ':path': '/no' }, 'x')).toMatchObject({ informed: [], status: 403 })
})

test('an expectation that is passed on gets 100 when the backend has answered', async () => {
  const began = Promise.withResolvers<ServerStream>()
  const sink = new TextSink()
  const client = await start((stream) => {
    sink.onEnd = () => answerWith(stream, sink.text)
    expect(stream.passExpectation()).toBe(true)
    stream.body.pipe(sink)
    // Sent first, so that a 100 of the stream would come before it.
    stream.inform(response(103))
    began.resolve(stream)
  })
  const stream = client.request({ ':method': 'POST', expect: '100-continue' })
  const informed: (number | undefined)[] = []
  stream.on('headers', (headers) => informed.push(headers[':status']))
  const served = await began.promise
  served.inform(response(100))
  served.inform(response(100))
  await once(stream, 'continue')
  expect(informed).toEqual([103, 100])
  stream.end('x')
  await once(stream, 'response')
  expect(sink.text).toBe('x')
})

const TRAILING: BodySource = { kind: BODY_CHUNKED, length: -1, trails: true, pipe() {}, pause() {}, resume() {} }

test('trailers end a response', async () => {
  const client = await start((stream) => {
    stream.respond(response(200), BODY_CHUNKED, -1)
    stream.response.source = TRAILING
    stream.response.bytes(Buffer.from('ab'), 0, 2)
    stream.response.end(response(200, { 'grpc-status': '0', 'grpc-message': 'ok' }))
  })
  expect(await ask(client, {})).toMatchObject({
    body: 'ab',
    trailers: ['grpc-status', '0', 'grpc-message', 'ok'],
    whole: true,
  })
})

test('trailers of a source that detached before the first bytes of the response', async () => {
  const client = await start((stream) => {
    const { response: sink } = stream
    stream.respond(response(200), BODY_CHUNKED, -1)
    sink.source = TRAILING
    sink.source = null
    sink.bytes(Buffer.from('x'), 0, 1)
    sink.end(response(200, { 'grpc-status': '0' }))
  })
  expect(await ask(client, {})).toMatchObject({ body: 'x', trailers: ['grpc-status', '0'], whole: true })
})

test('announced trailers that are not sent', async () => {
  const client = await start((stream) => {
    stream.respond(response(200), BODY_CHUNKED, -1)
    stream.response.source = TRAILING
    stream.response.bytes(Buffer.from('ab'), 0, 2)
    stream.response.end()
  })
  expect(await ask(client, {})).toMatchObject({ body: 'ab', trailers: [], whole: true })
})

test('a response pauses while the client does not read, and continues afterwards', async () => {
  let drained = 0
  const client = await start((stream) => {
    stream.respond(response(200), BODY_LENGTH, 1_000_000)
    const body = new FixedBody(Buffer.alloc(1_000_000, 'x'))
    body.pipe(stream.response)
    expect(stream.response.backed).toBe(true)
    const resume = body.resume.bind(body)
    body.resume = () => {
      drained++
      resume()
    }
  })
  expect((await ask(client, {})).body.length).toBe(1_000_000)
  expect(drained).toBeGreaterThan(3)
})

test('a request body pauses while its sink is backed up', async () => {
  const sink = new TextSink()
  const client = await start((stream) => {
    sink.onEnd = () => answerWith(stream, String(sink.text.length))
    sink.backed = true
    stream.body.pipe(sink)
    setTimeout(() => {
      // At most one window of data has arrived.
      expect(sink.text.length).toBeLessThan(70_000)
      sink.backed = false
      sink.source?.resume()
    }, 50)
  })
  const answer = await ask(client, { ':method': 'POST' }, 'y'.repeat(500_000))
  expect(answer.body).toBe('500000')
})

test.each<[what: string, cut: (stream: ServerStream) => void]>([
  ['abort before a head', (stream) => stream.abort()],
  [
    'abort after bytes',
    (stream) => {
      stream.respond(response(200), BODY_CHUNKED, -1)
      stream.response.bytes(Buffer.from('ab'), 0, 2)
      setTimeout(() => stream.abort(), 20)
    },
  ],
  [
    'abort at once behind bytes',
    (stream) => {
      stream.respond(response(200), BODY_CHUNKED, -1)
      stream.response.bytes(Buffer.from('ab'), 0, 2)
      stream.response.abort('reset')
    },
  ],
  [
    'fewer bytes than announced',
    (stream) => {
      stream.respond(response(200), BODY_LENGTH, 9)
      stream.response.bytes(Buffer.from('ab'), 0, 2)
      stream.response.end()
    },
  ],
  [
    'more bytes than announced',
    (stream) => {
      stream.respond(response(200), BODY_LENGTH, 1)
      stream.response.bytes(Buffer.from('ab'), 0, 2)
    },
  ],
  ['a status that HTTP/2 does not have', (stream) => stream.respond(response(700), BODY_NONE, 0)],
])('%s does not look like a complete response', async (_what, cut) => {
  const client = await start(cut)
  const answer = await ask(client, {})
  expect(answer).toMatchObject({ whole: false, resetCode: 2 })
  expect(rig.handler.events.at(-1)).toMatch(/^(?:aborted|cut) /)
  expect((await ask(client, {})).resetCode).toBe(2)
})

test('a response before the end of the request discards the rest of the request', async () => {
  const sink = new TextSink()
  const client = await start((stream) => {
    stream.body.pipe(sink)
    answerWith(stream, 'enough', 413)
  })
  const request = client.request({ ':method': 'POST' })
  request.on('error', () => {})
  request.write('x'.repeat(10_000))
  expect(await text(request)).toBe('enough')
  expect(sink.aborted).toBe('cancelled')
  expect(request.rstCode).toBe(0)
})

test.each([
  ['not read', false],
  ['being read', true],
])('a response without body is delivered while the rest of the request is %s', async (_what, reads) => {
  const client = await start((stream) => {
    if (reads) stream.body.pipe(new TextSink())
    stream.respond(response(200, { 'grpc-status': '7' }), BODY_NONE, 0)
    stream.response.end()
  })
  const request = client.request({ ':method': 'POST' })
  request.write('x')
  const [head] = (await once(request, 'response')) as [Record<string, string>]
  expect(head['grpc-status']).toBe('7')
  await once(request, 'close')
  expect(request.rstCode).toBe(0)
})

test.each([
  ['without an answer', () => {}, 'reset'],
  ['in the middle of an answer', (stream: ServerStream) => stream.respond(response(200), BODY_CHUNKED, -1), 'reset'],
])('a client that disconnects %s', async (_what, onRequest, why) => {
  const sink = new TextSink()
  await start((stream) => {
    stream.body.pipe(sink)
    onRequest(stream)
  })
  const client = await rig.raw()
  client.request(1, [], END_HEADERS)
  await eventually(() => rig.handler.events.length === 1)
  client.send(RST_STREAM, 0, 1, uint32(8))
  await eventually(() => rig.handler.events.length === 2)
  expect(rig.handler.events[1]).toBe(`aborted ${why}`)
  expect(sink.aborted).toBe(why)
  expect(sink.ended).toBe(false)
})

test.each([
  ['while its body waits', (stream: ServerStream, sink: TextSink) => stream.body.pipe(sink), 'aborted reset'],
  ['behind an answer that came early', (stream: ServerStream) => answerWith(stream, 'enough'), 'finished 6'],
  [
    'behind one that came in the middle',
    (stream: ServerStream, sink: TextSink) => {
      stream.body.pipe(sink)
      setTimeout(() => answerWith(stream, 'enough'), 20)
    },
    'finished 6',
  ],
])('a client that disconnects %s leaves no state', async (_what, onRequest, event) => {
  const sink = new TextSink()
  sink.backed = true
  const client = await start((stream) => onRequest(stream, sink))
  const request = client.request({ ':method': 'POST' })
  request.on('error', () => {})
  request.write('x'.repeat(300_000))
  await eventually(() => rig.handler.events.length === (event === 'finished 6' ? 2 : 1))
  await new Promise((resolve) => setTimeout(resolve, 20))
  client.destroy()
  await eventually(() => rig.open === 0)
  expect(rig.handler.events[1]).toBe(event)
})

test('a body reset with NO_ERROR is not complete', async () => {
  const sink = new TextSink()
  await start((stream) => stream.body.pipe(sink))
  const client = await rig.raw()
  client.request(1, [], END_HEADERS)
  client.send(DATA, 0, 1, Buffer.from('half'))
  await eventually(() => sink.text === 'half')
  client.send(RST_STREAM, 0, 1, uint32(0))
  await eventually(() => sink.aborted !== undefined)
  expect(sink.ended).toBe(false)
})

test.each<[what: string, fields: (readonly [string, string])[], status: number]>([
  ['another Host', [['host', 'b']], 400],
  ['two lengths of a field line', [['expect', 'more']], 417],
  ['a large field', [['x', 'a'.repeat(20_000)]], 431],
  ['many fields', Array.from({ length: 120 }, (_, i) => [`x${i}`, ''] as const), 431],
])('%s is refused', async (_what, fields, status) => {
  const client = await start()
  const answer = await ask(client, [':path', '/', ':authority', 'a', ...fields.flat()])
  expect(answer.status).toBe(status)
  expect(answer.fields.slice(-2)).toEqual(['x-refusal', rig.handler.events[0]])
  expect(rig.handler.events).toEqual([expect.stringMatching(/^refused /)])
  expect((await ask(client, {})).status).toBe(200)
})

test.each<[what: string, fields: (readonly [string, string])[]]>([
  ['an upper-case name', [['X', '1']]],
  ['a field of the connection', [['connection', 'close']]],
  ['a transfer coding', [['transfer-encoding', 'chunked']]],
  [
    'a pseudo field behind others',
    [
      ['x', '1'],
      [':path', '/b'],
    ],
  ],
  ['a length that is not that of the body', [['content-length', '3']]],
])('%s resets the stream', async (_what, fields) => {
  await start()
  const client = await rig.raw()
  client.request(1, fields)
  await client.until((frame) => frame.type === RST_STREAM)
  expect(client.resetCode(1)).toBe(1)
  expect(rig.handler.events).toEqual([])
})

test('a field with line breaks is refused', async () => {
  let seen = ''
  await start((stream) => {
    seen = stream.head.text
    answerWith(stream, 'ok')
  })
  const client = await rig.raw()
  client.request(1, [
    ['x', 'a\r\nsmuggled: 1'],
    ['y', 'b'],
  ])
  await client.until((frame) => frame.type === DATA)
  expect(seen).toBe('GET / HTTP/1.1\r\nhost: a.test\r\ny: b\r\n\r\n')
})

test('invalid trailers abort the request', async () => {
  const sink = new TextSink()
  await start((stream) => stream.body.pipe(sink))
  const client = await rig.raw()
  client.request(1, [], END_HEADERS)
  client.send(
    HEADERS,
    END_STREAM | END_HEADERS,
    1,
    headerBlock([
      ['x', 'a'.repeat(8000)],
      ['y', 'b'.repeat(8000)],
      ['z', 'c'.repeat(300)],
    ]),
  )
  await eventually(() => sink.aborted !== undefined || sink.ended)
  expect(sink.aborted).toBe('protocol-error')
})

async function text(stream: NodeJS.ReadableStream): Promise<string> {
  let all = ''
  for await (const bytes of stream) all += String(bytes)
  return all
}

async function eventually(check: () => boolean): Promise<void> {
  for (let i = 0; i < 500 && !check(); i++) await new Promise((resolve) => setTimeout(resolve, 10))
  expect(check()).toBe(true)
}

// Heads that are too large for HTTP/2.

/** The maximum length of the value of one field `x` beside a status and a `content-length` of one digit. */
const LARGEST_VALUE = 65_536 - (7 + 3 + 32) - (14 + 1 + 32) - (1 + 32)

/** A client, and whether its session got a GOAWAY; another request is in flight all the time. */
async function startBeside(onRequest: (stream: ServerStream) => void, settings: http2.Settings = {}) {
  let waiting: ServerStream | undefined
  await start((stream) => {
    if (stream.head.target === '/beside') waiting = stream
    else onRequest(stream)
  })
  const options = { settings: { maxHeaderListSize: 1_000_000, ...settings }, maxHeaderListPairs: 10_000 }
  const client = http2.connect(`http://127.0.0.1:${rig.port}`, options)
  client.on('error', () => {})
  onTestFinished(() => client.destroy())
  let goaways = 0
  client.on('goaway', () => goaways++)
  const beside = ask(client, { ':path': '/beside' })
  while (waiting === undefined) await new Promise((resolve) => setTimeout(resolve, 1))
  const unharmed = async () => {
    answerWith(waiting!, 'unharmed')
    expect(await beside).toMatchObject({ status: 200, body: 'unharmed' })
    expect(goaways).toBe(0)
  }
  return { client, unharmed }
}

test.each<[what: string, fields: Record<string, string>, settings: http2.Settings, taken: boolean]>([
  ['one field that just fits', { x: 'v'.repeat(LARGEST_VALUE) }, {}, true],
  ['a byte more', { x: 'v'.repeat(LARGEST_VALUE + 1) }, {}, false],
  ['many fields that fit', manyFields(600, 60), {}, true],
  ['many fields that do not', manyFields(700, 60), {}, false],
  ['as much as the client says', { x: 'v'.repeat(1000) }, { maxHeaderListSize: 42 + 47 + 33 + 1000 }, true],
  ['more than the client says', { x: 'v'.repeat(1001) }, { maxHeaderListSize: 42 + 47 + 33 + 1000 }, false],
])('%s: after a head that cannot be sent, another one can', async (_, fields, settings, taken) => {
  let wasTaken: boolean | undefined
  const { client, unharmed } = await startBeside((stream) => {
    wasTaken = stream.respond(response(200, fields), BODY_NONE, 0)
    if (wasTaken) stream.response.end()
    else answerWith(stream, 'too large', 502)
  }, settings)
  const answer = await ask(client, {})
  expect(wasTaken).toBe(taken)
  expect(answer).toMatchObject(taken ? { status: 200, resetCode: 0 } : { status: 502, body: 'too large', resetCode: 0 })
  await unharmed()
})

function manyFields(count: number, bytes: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, 'v'.repeat(bytes)]))
}

test('an interim response that is too large is omitted', async () => {
  const { client, unharmed } = await startBeside((stream) => {
    stream.inform(response(103, { link: 'a' }))
    stream.inform(response(103, { link: 'a'.repeat(70_000) }))
    answerWith(stream, 'final')
  })
  expect(await ask(client, {})).toMatchObject({ status: 200, body: 'final', informed: [103] })
  await unharmed()
})

test('trailers that are too large abort the response', async () => {
  const { client, unharmed } = await startBeside((stream) => {
    stream.respond(response(200), BODY_CHUNKED, -1)
    stream.response.bytes(Buffer.from('begun'), 0, 5)
    stream.response.end(response(200, { 'x-sum': 'v'.repeat(70_000) }))
  })
  expect(await ask(client, {})).toMatchObject({ status: 200, body: 'begun', resetCode: 2, trailers: [] })
  expect(rig.handler.events).toContain('aborted protocol-error')
  await unharmed()
})
