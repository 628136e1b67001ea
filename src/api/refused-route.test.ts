import { expect, test } from 'vitest'
import { findKind } from './kinds.ts'
import { losesProtection, readRefusedRoute } from './refused-route.ts'

const externalAuth = { grcp: {}, http: { path: '/check' } }
const written = {
  spec: {
    rules: [{ filters: [{ type: 'ExternalAuth', externalAuth }], fliters: [{ externalAuth }], note: null, text: 'x' }],
  },
}

test.each([
  ['filters[0].externalAuth.grcp', true],
  ['fliters', true],
  ['filters[0].type', false],
  ['note', false],
  ['text', false],
  ['absent.member', false],
])('an ignored field rules[0].%s: the route may lose its protection: %s', (field, loses) => {
  const ignored = { path: `spec.rules[0].${field}`, code: 'unknown-field', message: '', severity: 'warning' } as const
  expect(losesProtection(written, [ignored])).toBe(loses)
})

test('of the rules of an invalid route, those with a readable match or without matches are kept', () => {
  const match = (value: string) => ({ path: { type: 'PathPrefix', value } })
  const rules = [
    { matches: [match('/a')], filters: 'x' },
    { matches: [match('b')] },
    { matches: [match('c'), match('/c')] },
    {},
  ]
  const read = readRefusedRoute({ metadata: { name: 'r' }, spec: { rules } }, findKind('HTTPRoute')!)
  expect(read?.isComplete).toBe(false)
  expect(read?.value).toMatchObject({
    spec: { rules: [{ matches: [match('/a')] }, { matches: [match('/c')] }, {}] },
  })
})
