import { expect, test } from 'vitest'
import { verifies } from '#test/support/verifies.ts'
import {
  codeOf,
  contextWith,
  type ExchangeInputs,
  exchangeWith,
  linesOf,
  sourceOf,
  specFrom,
} from '../../shared/testing.ts'
import { directResponse } from './index.ts'
import { trafficDirectResponse } from './schema.ts'

function policyOf(written: object) {
  const context = contextWith()
  return { context, run: directResponse.compile([sourceOf(specFrom(trafficDirectResponse, written))], context)! }
}

function answerTo(written: object, request: ExchangeInputs = {}) {
  const outcome = policyOf(written).run.request!(exchangeWith(request))
  if (outcome === undefined || outcome instanceof Promise || outcome.kind !== 'answer') throw new Error('no answer')
  const { head, body } = outcome
  return {
    status: head.status,
    lines: linesOf(head),
    body: body instanceof Uint8Array ? new TextDecoder().decode(body) : body,
  }
}

const TEXT = 'content-type: text/plain; charset=utf-8'
const FAILS = 'request.headers["absent"]'

verifies(['traffic.directResponse/status', 'traffic.directResponse/no-body'], 'status alone', () => {
  expect(answerTo({ status: 422 })).toEqual({ status: 422, lines: [], body: undefined })
})
verifies('traffic.directResponse/body', 'fixed body', () => {
  expect(answerTo({ status: 200, body: 'caf\u00e9' })).toEqual({ status: 200, lines: [TEXT], body: 'caf\u00e9' })
})
verifies('traffic.directResponse/bodyExpression-text', 'a string result is written unchanged', () => {
  expect(answerTo({ status: 200, bodyExpression: 'request.path' }, { target: '/p' })).toEqual({
    status: 200,
    lines: [TEXT],
    body: '/p',
  })
})
verifies('traffic.directResponse/bodyExpression-json', 'any other result is written as JSON', () => {
  expect(answerTo({ status: 200, bodyExpression: '42' })).toEqual({
    status: 200,
    lines: ['content-type: application/json'],
    body: '42',
  })
})
verifies('traffic.directResponse/headers', 'headers are expressions; a failing one is left out', () => {
  const headers = [
    { name: 'X-Path', value: 'request.path' },
    { name: 'x-failing', value: FAILS },
    { name: 'x-number', value: '42' },
    { name: 'Content-Type', value: '"text/html"' },
  ]
  expect(answerTo({ status: 200, body: '<p>', headers }, { target: '/p' }).lines).toEqual([
    'x-path: /p',
    'content-type: text/html',
  ])
})

for (const status of [204, 205, 304]) {
  test(`${status} has no body and no content type`, () => {
    expect(answerTo({ status, body: 'text' })).toEqual({ status, lines: [], body: undefined })
  })
}

test('the detail has the reason of a failed body expression', () => {
  const refused = policyOf({ status: 200, bodyExpression: '"a" + request.headers["absent"]' }).run.request!(
    exchangeWith(),
  )
  expect(refused).toMatchObject({
    detail:
      'spec.traffic.field.bodyExpression of ProxyPolicy default/test: no such key: request.headers.absent (column 7)\n' +
      '"a" + request.headers["absent"]\n      ^',
  })
})

for (const bodyExpression of [FAILS, 'broken (']) {
  test(`a failed body expression is an error: ${bodyExpression}`, () => {
    expect(codeOf(policyOf({ status: 200, bodyExpression }).run.request!(exchangeWith()))).toBe('filter-failed')
  })
}

test('the first conditional item whose condition is true answers; if none is true, the request is forwarded', () => {
  const { run } = policyOf({
    conditional: [
      { condition: 'request.headers["x"] == "1"', policy: { status: 418 } },
      { condition: 'request.headers["x"] == "2"', policy: { status: 410 } },
    ],
  })
  const codes = ['1', '2', '3'].map((x) => {
    const outcome = run.request!(exchangeWith({ headers: { x } }))
    return outcome === undefined || outcome instanceof Promise || outcome.kind !== 'answer'
      ? 'none'
      : outcome.head.status
  })
  expect(codes).toEqual([418, 410, 'none'])
})

test('framing fields cannot be set', () => {
  const { context } = policyOf({ status: 200, headers: [{ name: 'Content-Length', value: '"7"' }] })
  expect(context.reports).toEqual(['no-effect spec.traffic.field.headers[0].name'])
})

test('the body of the request is buffered only if it is read', () => {
  expect(policyOf({ status: 200, body: 'x' }).run.readsRequestBody).toBe(false)
  expect(policyOf({ status: 200, bodyExpression: 'request.body' }).run.readsRequestBody).toBe(true)
})
