import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import type { Peer } from '#net/peer.ts'
import { compileExpression } from '../compile-expression.ts'
import { Exchange } from '../exchange.ts'

const FIELDS: readonly (readonly [name: string, value: string])[] = [
  ['x-one', '1'],
  ['x-many', 'a'],
  ['cookie', 'a=1; b=2'],
  ['x-many', 'b ,\tc\u00a0'],
  ['cookie', 'c=3; flag'],
  ['set-cookie', 's=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT'],
  ['set-cookie', 't=2'],
  ['x-letter', '\u00c3\u00a0'],
  ['authorization', 'Bearer a'],
  ['proxy-authorization', 'Basic b'],
]

function exchange(): Exchange {
  const request = Head.request('GET', '/')
  const response = Head.response(200)
  for (const [name, value] of FIELDS) {
    request.append(name, value)
    response.append(name, value)
  }
  const made = new Exchange(request, {} as Peer)
  made.response = response
  return made
}

test.each([
  // Decision A-132: the joined text of all lines.
  ['request.headers["x-one"]', '1'],
  ['request.headers["X-Many"]', 'a, b ,\tc\ufffd'],
  ['request.headers.cookie', 'a=1; b=2; c=3; flag'],
  ['request.headers["set-cookie"]', 's=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT, t=2'],
  ['request.headers["x-letter"]', '\u00e0'],
  ['request.headers["x-none"]', undefined],
  ['request.headers[?"x-many"].orValue("")', 'a, b ,\tc\ufffd'],
  ['response.headers["x-many"]', 'a, b ,\tc\ufffd'],
  ['response.headers["set-cookie"]', ['s=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT', 't=2']],
  ['response.headers["Set-Cookie"].exists(line, line.startsWith("t="))', true],
  ['response.headers.transformList(name, value, name == "set-cookie", value)[0][1]', 't=2'],

  // Names are case-insensitive, also computed ones.
  ['["X-One"].map(name, request.headers[name])', ['1']],
  ['["X-One"].exists(name, name in request.headers)', true],
  ['"X-One" in request.headers.raw()', true],
  ['request.headers.raw()["X-One"]', ['1']],
  ['request.headers.map(name, name).filter(name, name == "x-many")', ['x-many']],

  // Explicit list views.
  ['request.headers.raw()["x-one"]', ['1']],
  ['request.headers.raw()["cookie"]', ['a=1; b=2', 'c=3; flag']],
  ['request.headers.split()["x-many"]', ['a', 'b', 'c\ufffd']],
  ['request.headers.split()["x-none"]', undefined],
  ['request.headers.join()["x-many"]', 'a,b ,\tc\ufffd'],
  ['response.headers.join()["set-cookie"]', 's=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT,t=2'],

  ['request.headers.redacted()["cookie"]', '<redacted>'],
  ['request.headers.redacted()["authorization"]', '<redacted>'],
  ['request.headers.redacted()["Proxy-Authorization"]', '<redacted>'],
  ['request.headers.redacted().raw()["cookie"]', ['<redacted>', '<redacted>']],
  ['response.headers.redacted()["set-cookie"]', ['<redacted>', '<redacted>']],
  ['request.headers.redacted()["x-one"]', '1'],
  ['request.headers.cookie("c")', '3'],
  ['request.headers.cookie("fla")', undefined],
  ['request.headers.raw().cookie("b")', '2'],
])('%s is %j', (source, value) => {
  const problems: string[] = []
  const expression = compileExpression(source, 'response', ({ message }) => problems.push(message))
  expect(problems).toEqual([])
  expect(expression.json(exchange())).toEqual(value)
})

test.each([
  ['request.headers["x"] == ["a"]', 'no matching overload for == with (string, list(string))'],
  ['request.headers["x"][0] == "a"', 'no matching overload for [] with (string, int)'],
  ['response.headers["set-cookie"] == "a"', 'no matching overload for == with (list(string), string)'],
])('%s is reported as an error', (source, message) => {
  const problems: string[] = []
  compileExpression(source, 'response', (problem) => problems.push(problem.message))
  expect(problems.join()).toContain(message)
})

test.each([
  ['request.headers["x-role"] == "guest"', false],
  ['request.headers["x-role"] != "guest"', true],
  ['request.headers["x-role"] in ["guest", "other"]', false],
  ['request.headers["x-role"].contains("guest")', true],
  ['"guest" in request.headers.split()["x-role"]', true],
])('for a field that was sent twice, %s is %j and does not fail', (source, value) => {
  const made = exchange()
  made.request.append('x-role', 'guest')
  made.request.append('x-role', 'guest')
  const expression = compileExpression(source, 'request', () => {})
  expect(expression.json(made)).toBe(value)
})
