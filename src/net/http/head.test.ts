import { expect, test } from 'vitest'
import { parseHeadText } from '../http1/parse-head-text.ts'
import { Head } from './head.ts'
import { NameTable } from './name-table.ts'
import { foldName, isSameName } from './same-name.ts'

const REQUEST = 'GET /a?b=1 HTTP/1.1\r\nHost: example.com\r\nX-One: 1\r\nAccept:  text/html \r\nx-one: 2\r\n\r\n'

function parsed(text: string): Head {
  const head = parseHeadText(text)
  if (typeof head === 'number') throw new Error(`refused with ${head}`)
  return head
}

function fieldsOf(head: Head): string[] {
  const fields: string[] = []
  head.each((name, value) => fields.push(`${name}=${value}`))
  return fields
}

test('received fields are found regardless of case', () => {
  const head = parsed(REQUEST)
  expect([head.method, head.target, head.authority]).toEqual(['GET', '/a?b=1', 'example.com'])
  expect(head.get('accept')).toBe('text/html')
  expect(head.get('x-one')).toBe('1')
  expect(head.getAll('x-one')).toEqual(['1', '2'])
  expect(head.joined('x-one')).toBe('1, 2')
  expect(head.joined('accept')).toBe('text/html')
  expect(head.joined('x-two')).toBeUndefined()
  expect(head.has('x-two')).toBe(false)
  expect(head.get('x-two')).toBeUndefined()
  // The first field.
  expect([head.get('host'), head.getAll('host'), head.joined('host'), head.has('host')]).toEqual([
    'example.com',
    ['example.com'],
    'example.com',
    true,
  ])
  expect(head.fieldCount).toBe(4)
  expect(fieldsOf(head)).toEqual(['host=example.com', 'x-one=1', 'accept=text/html', 'x-one=2'])
})

test('the fields besides those with certain names', () => {
  const head = parsed('GET / HTTP/1.1\r\nHost: a\r\nX_One: 1\r\nX-Two: 2\r\nY-Two: 3\r\nX: 4\r\n\r\n')
  head.append('x-one', '5')
  head.append('x-three', '6')
  head.remove('host')
  const fields: string[] = []
  const except = new NameTable(['x-one', 'y-two', 'a-name-that-is-longer'])
  head.each((name, value) => fields.push(`${name}=${value}`), except)
  expect(fields).toEqual(['x-two=2', 'x=4', 'x-three=6'])
})

test('received and added values are joined (RFC 9110, 5.3), cookies with semicolons (RFC 9113, 8.2.3)', () => {
  const head = parsed('GET / HTTP/1.1\r\nHost: a\r\nCookie: a=1\r\nX: 1\r\nX:\r\n\r\n')
  head.append('cookie', 'b=2')
  head.append('x', '2')
  expect([head.joined('cookie'), head.joined('x')]).toEqual(['a=1; b=2', '1, , 2'])
  expect(head.getAll('x')).toEqual(['1', '', '2'])
})

test.each([
  ['x-internal-user', ['x-internal-users', 'x', 'x-internal.user']],
  ['x_internal_user', ['x-internal-users', 'x', 'x-internal.user']],
  ['x-internal.user', ['x_internal-user', 'x-internal-users', 'x', 'x-internal-user']],
  ['x', ['x_internal-user', 'x-internal-users', 'x-internal.user', 'x-internal-user']],
])('names of removed and replaced fields do not distinguish _ and - (decision A-134): %s', (name, left) => {
  const head = parsed(
    'GET / HTTP/1.1\r\nHost: a\r\nX_Internal-User: 1\r\nX-Internal-Users: 2\r\nX: 3\r\nX-Internal.User: 4\r\n\r\n',
  )
  head.append('x-internal-user', '5')
  expect(head.get('x-internal_user')).toBeUndefined()
  const other = head.clone()
  head.remove(name)
  const namesOf = (of: Head) => fieldsOf(of).map((field) => field.split('=')[0])
  expect(namesOf(head)).toEqual(['host', ...left])
  other.set(name, '6')
  expect(namesOf(other)).toEqual(['host', ...left, name])
})

test('only letters are compared without case', () => {
  const head = parsed('GET / HTTP/1.1\r\nHost: a\r\nX^: 1\r\nAZ: 2\r\n\r\n')
  expect(head.get('x~')).toBeUndefined()
  head.remove('x~')
  expect([head.get('x^'), head.get('az')]).toEqual(['1', '2'])
  head.remove('az')
  expect(head.has('az')).toBe(false)
})

test.each(['ab', 'xb', 'ax'])('names are compared whole: %s', (name) => {
  const head = parsed('GET / HTTP/1.1\r\nHost: a\r\nAB: 1\r\n\r\n')
  head.append('ab', '2')
  const found = name === 'ab'
  expect([head.has(name), head.getAll(name)]).toEqual([found, found ? ['1', '2'] : []])
  expect([head.isNamed(1, name), isSameName('ab', name)]).toEqual([found, found])
  head.remove(name)
  expect(head.has('ab')).toBe(!found)
})

test('_ and - are one in two names, other characters are not', () => {
  expect(['a_b', 'a-b', 'a.b', 'a_bc'].map((name) => isSameName(name, 'a-b'))).toEqual([true, true, false, false])
  expect(['a_b', 'a-b', 'a.b'].map((name) => isSameName(name, 'a_b'))).toEqual([true, true, false])
  expect(foldName('X_Y-Z_')).toBe('x-y-z-')
})

test.each([
  ...['GET', 'PUT', 'POST', 'HEAD', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT'],
  ...['A', 'AB', 'ABC', 'ABCD', 'ABCDE', 'ABCDEF', 'ABCDEFG', 'ABCDEFGH'],
])('the method %s is read', (method) => {
  const head = new Head()
  head.text = `${method} / HTTP/1.1\r\n\r\n`
  head.methodEnd = method.length
  expect(head.method).toBe(method)
})

test.each([31, 32, 33, 64, 65, 200])('a head of %i fields has each of them, and so has its copy', (count) => {
  const lines = Array.from({ length: count - 1 }, (_, i) => `X-${i}: ${i}\r\n`)
  const head = parsed(`GET / HTTP/1.1\r\nHost: a\r\n${lines.join('')}\r\n`)
  const expected = ['host=a', ...lines.map((_, i) => `x-${i}=${i}`)]
  expect([head.fieldCount, fieldsOf(head)]).toEqual([count, expected])
  expect(fieldsOf(head.clone())).toEqual(expected)
})

test('a removed field stays removed when there is space for more', () => {
  const head = parsed(REQUEST)
  head.drop(1)
  head.drop(1)
  head.reserve(33)
  expect([head.fieldCount, fieldsOf(head)]).toEqual([3, ['host=example.com', 'accept=text/html', 'x-one=2']])
  expect([head.receivedName(1), head.receivedValue(1)]).toEqual(['X-One', '1'])
})

test('an unchanged head is sent as received', () => {
  expect(parsed(REQUEST).writeRequest(0, -1, '')).toBe(REQUEST)
  const response = 'HTTP/1.1 200 Fine\r\nContent-Length: 5\r\nX: y\r\n\r\n'
  expect(parsed(response).writeResponse(1, 5, '')).toBe(response)
})

const edits: [what: string, edit: (head: Head) => void, expected: string][] = [
  [
    'set replaces all',
    (head) => head.set('x-one', '9'),
    'GET /a?b=1 HTTP/1.1\r\nHost: example.com\r\nAccept:  text/html \r\nx-one: 9\r\n\r\n',
  ],
  [
    'set twice keeps the last',
    (head) => {
      head.set('x-new', '1')
      head.set('X-New', '2')
    },
    `${REQUEST.slice(0, -2)}x-new: 2\r\n\r\n`,
  ],
  ['append adds', (head) => head.append('x-one', '3'), `${REQUEST.slice(0, -2)}x-one: 3\r\n\r\n`],
  [
    'remove takes all of a name',
    (head) => head.remove('x-one'),
    'GET /a?b=1 HTTP/1.1\r\nHost: example.com\r\nAccept:  text/html \r\n\r\n',
  ],
  [
    'remove of the first field',
    (head) => head.remove('host'),
    'GET /a?b=1 HTTP/1.1\r\nX-One: 1\r\nAccept:  text/html \r\nx-one: 2\r\n\r\n',
  ],
  [
    'remove takes back an addition',
    (head) => {
      head.append('x-two', '1')
      head.append('x-two', '2')
      head.remove('x-two')
    },
    REQUEST,
  ],
  [
    'remove leaves the additions around it',
    (head) => {
      for (const [i, name] of ['a', 'b', 'c', 'b', 'd'].entries()) head.append(name, `${i}`)
      head.remove('b')
    },
    `${REQUEST.slice(0, -2)}a: 0\r\nc: 2\r\nd: 4\r\n\r\n`,
  ],
  ['a new target rewrites the start line', (head) => (head.target = '/z'), REQUEST.replace('/a?b=1', '/z')],
  ['a new method rewrites the start line', (head) => (head.method = 'PUT'), REQUEST.replace('GET', 'PUT')],
  [
    'a new authority replaces Host',
    (head) => (head.authority = 'other:8080'),
    'GET /a?b=1 HTTP/1.1\r\nX-One: 1\r\nAccept:  text/html \r\nx-one: 2\r\nhost: other:8080\r\n\r\n',
  ],
  [
    'fields about the connection are not written',
    (head) => {
      for (const name of ['connection', 'content-length', 'keep-alive', 'proxy-connection', 'te', 'trailer']) {
        head.set(name, 'x')
      }
      head.set('transfer-encoding', 'chunked')
      head.set('upgrade', 'x')
    },
    REQUEST,
  ],
]

test.each(edits)('%s', (_, edit, expected) => {
  const head = parsed(REQUEST)
  edit(head)
  expect(head.writeRequest(0, -1, '')).toBe(expected)
})

test.each([
  ['same length stays in place', 1, 5, '', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nA: b\r\n\r\n'],
  ['another length replaces it', 1, 7, '', 'HTTP/1.1 200 OK\r\nA: b\r\ncontent-length: 7\r\n\r\n'],
  ['chunked replaces it', 2, -1, '', 'HTTP/1.1 200 OK\r\nA: b\r\ntransfer-encoding: chunked\r\n\r\n'],
  ['chunked of a known length', 2, 5, '', 'HTTP/1.1 200 OK\r\nA: b\r\ntransfer-encoding: chunked\r\n\r\n'],
  ['until close', 3, -1, 'connection: close\r\n', 'HTTP/1.1 200 OK\r\nA: b\r\nconnection: close\r\n\r\n'],
  ['an announced length without a body', 0, 5, '', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nA: b\r\n\r\n'],
  ['no body, nothing announced', 0, -1, '', 'HTTP/1.1 200 OK\r\nA: b\r\n\r\n'],
] as const)('framing: %s', (_, kind, length, lines, expected) => {
  const head = parsed('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nA: b\r\n\r\n')
  expect(head.writeResponse(kind, length, lines)).toBe(expected)
})

test('framing: a removed length is written again', () => {
  const head = parsed('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nA: b\r\n\r\n')
  head.remove('content-length')
  expect(head.writeResponse(1, 5, '')).toBe('HTTP/1.1 200 OK\r\nA: b\r\ncontent-length: 5\r\n\r\n')
})

test('a gateway-made response has the registered phrase', () => {
  const head = Head.response(404)
  head.set('Content-Type', 'text/plain')
  expect(head.writeResponse(1, 3, 'connection: close\r\n')).toBe(
    'HTTP/1.1 404 Not Found\r\ncontent-type: text/plain\r\ncontent-length: 3\r\nconnection: close\r\n\r\n',
  )
  expect(Head.response(299).writeResponse(0, 0, '')).toBe('HTTP/1.1 299 \r\ncontent-length: 0\r\n\r\n')
})

test('a gateway-made request', () => {
  const head = Head.request('POST', '/x')
  head.authority = 'a.example'
  expect(head.writeRequest(2, -1, '')).toBe('POST /x HTTP/1.1\r\nhost: a.example\r\ntransfer-encoding: chunked\r\n\r\n')
})

test('a changed status of a received response gets its own phrase', () => {
  const head = parsed('HTTP/1.1 200 Fine\r\nA: b\r\n\r\n')
  head.status = 503
  expect(head.writeResponse(0, 0, '')).toBe('HTTP/1.1 503 Service Unavailable\r\nA: b\r\ncontent-length: 0\r\n\r\n')
})

test.each([['a\rb'], ['a\nb'], ['a\0b'], ['a\r\nX: y'], ['\u007f'], ['\u0100'], ['snowman \u2603']])(
  'set refuses the value %j and keeps what was there',
  (value) => {
    const head = parsed(REQUEST)
    expect(() => head.set('x-one', value)).toThrow(TypeError)
    expect(() => head.append('x-one', value)).toThrow(TypeError)
    expect(head.getAll('x-one')).toEqual(['1', '2'])
  },
)

test.each([[''], ['a b'], ['a:'], ['a\r\n'], ['\u00e9']])('set refuses the name %j', (name) => {
  expect(() => parsed(REQUEST).set(name, 'x')).toThrow(TypeError)
})

test.each([[''], ['/a b'], ['/a\r\nX: y'], ['/a#b'], ['/\u00e9']])('the target %j is refused', (target) => {
  const head = parsed(REQUEST)
  expect(() => (head.target = target)).toThrow(TypeError)
})

test('a copy does not see later edits, nor the other way round', () => {
  const head = parsed(REQUEST)
  head.append('x-two', '2')
  const copy = head.clone()
  head.set('x-one', 'changed')
  head.remove('x-two')
  copy.append('x-three', '3')
  expect(copy.getAll('x-one')).toEqual(['1', '2'])
  expect(copy.get('x-two')).toBe('2')
  expect(head.has('x-three')).toBe(false)
  expect(copy.writeRequest(0, -1, '')).toBe(`${REQUEST.slice(0, -2)}x-two: 2\r\nx-three: 3\r\n\r\n`)
})

test('nothing is left of an addition that was removed', () => {
  const head = Head.request('GET', '/')
  head.append('a', '1')
  head.append('b', '2')
  head.remove('b')
  expect([head.get('b'), head.getAll('b'), head.joined('b'), head.has('b')]).toEqual([undefined, [], undefined, false])
  expect([head.has('a'), head.fieldCount, fieldsOf(head)]).toEqual([true, 1, ['a=1']])
  expect(head.writeRequest(0, -1, '')).toBe('GET / HTTP/1.1\r\na: 1\r\n\r\n')
})

test('a copy has what was changed, and nothing of what was there before', () => {
  const request = parsed(REQUEST)
  request.method = 'PUT'
  request.target = '/z'
  const copy = new Head()
  copy.set('x-old', '1')
  copy.copyFrom(request)
  expect(copy.writeRequest(0, -1, '')).toBe(REQUEST.replace('GET /a?b=1', 'PUT /z'))
  expect(copy.copyFrom(Head.response(503)).status).toBe(503)
  const removed = parsed(REQUEST)
  removed.drop(0)
  removed.drop(3)
  expect(fieldsOf(removed.clone())).toEqual(['x-one=1', 'accept=text/html'])
})

test('a copy as received has what was removed, and not what was added', () => {
  const head = parsed(REQUEST)
  const received = fieldsOf(head)
  head.remove('x-one')
  head.set('accept', '*/*')
  const copy = head.cloneAsReceived()
  expect([fieldsOf(copy), copy.fieldCount, copy.hasReceivedFields]).toEqual([received, received.length, true])
  expect(fieldsOf(head)).toEqual(['host=example.com', 'accept=*/*'])
})

/** Messages that together set all stored members. */
const REMEMBERED = [
  'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: x\r\n\r\n',
  'POST / HTTP/1.0\r\nHost: a\r\nContent-Length: 4\r\nConnection: te, keep-alive, x\r\nTE: trailers\r\nKeep-Alive: timeout=5\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n',
]

test.each(REMEMBERED)('reset clears the previous message: %j', (text) => {
  const head = parsed(text)
  expect([head.target, head.method]).toEqual(['/', text.split(' ')[0]])
  head.set('x', 'y')
  head.receivedStatus(500)
  head.isRepeatable = true
  head.reset()
  const fresh = new Head()
  // The tables keep their size; they are not read without received fields.
  fresh.offsets = head.offsets
  fresh.dropped = head.dropped
  expect(head).toEqual(fresh)
  expect([head.method, head.target, head.status, head.get('x'), head.fieldCount]).toEqual(['', '', 0, undefined, 0])
})

test('a copy is equal in all members', () => {
  const repeatable = Head.request('POST', '/')
  repeatable.isRepeatable = true
  for (const name of ['a', 'b', 'c']) repeatable.append(name, `${name}${name}`)
  const heads = [...REMEMBERED.map(parsed), repeatable]
  for (const head of heads) {
    expect(head.clone()).toEqual(head)
    expect(fieldsOf(head.clone())).toEqual(fieldsOf(head))
  }
  const fresh = new Head()
  const known = (Object.keys(fresh) as (keyof Head)[]).filter((name) =>
    heads.some((head) => head[name] !== fresh[name]),
  )
  expect(Object.keys(fresh).filter((name) => !known.includes(name as keyof Head))).toEqual([])
})

test.each([99, 1000, 200.5])('the status %d is refused', (status) => {
  expect(() => Head.response(status)).toThrow(RangeError)
})

test.each([100, 999])('the status %d is possible', (status) => {
  expect(Head.response(status).status).toBe(status)
  expect(Head.request('GET', '/').status).toBe(0)
})

test('a gateway-made head without any field', () => {
  expect(Head.response(103).writeResponse(0, -1, '')).toBe('HTTP/1.1 103 Early Hints\r\n\r\n')
})

test('a head knows whether its Host field is the received one', () => {
  const head = parsed(REQUEST)
  expect(head.keepsReceivedHost).toBe(true)
  expect(parsed(REQUEST).clone().keepsReceivedHost).toBe(true)
  head.authority = 'other'
  expect(head.keepsReceivedHost).toBe(false)
  expect(head.authority).toBe('other')
  expect([Head.request('GET', '/').keepsReceivedHost, Head.request('GET', '/').authority]).toEqual([false, ''])
})

test.each<[change: string, change: (head: Head) => void, isAsReceived: boolean]>([
  ['nothing', () => {}, true],
  ['a new target', (head) => Object.assign(head, { target: '/b' }), true],
  ['an added field', (head) => head.append('x-two', '2'), false],
  ['a removed field', (head) => head.remove('x-one'), false],
  ['a replaced field', (head) => head.set('x-one', '3'), false],
  [
    'a field that was added and removed again',
    (head) => {
      head.append('x-two', '2')
      head.remove('x-two')
    },
    true,
  ],
])('after %s: the fields are those that were received', (_, change, isAsReceived) => {
  const head = parsed(REQUEST)
  change(head)
  expect(head.hasReceivedFields).toBe(isAsReceived)
})

test('more names than are remembered are checked, too', () => {
  const head = Head.response(200)
  for (let i = 0; i < 3000; i++) head.set(`X-Name-${i}`, `${i}`)
  expect([head.fieldCount, head.get('x-name-0'), head.get('x-name-2999')]).toEqual([3000, '0', '2999'])
  expect(() => head.set('x-name-3000\n', '1')).toThrow(TypeError)
})
