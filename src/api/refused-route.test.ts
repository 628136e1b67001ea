import { expect, test } from 'vitest'
import { losesProtection } from './refused-route.ts'

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
