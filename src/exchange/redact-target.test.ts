import { expect, test } from 'vitest'
import { redactTarget } from './redact-target.ts'

test.each([
  ['/a?access_token=t&x=1', '/a?access_token=<redacted>&x=1'],
  ['/a?access%5Ftoken=t', '/a?access%5Ftoken=<redacted>'],
  ['/a?Api-Key=t', '/a?Api-Key=<redacted>'],
  ['/a?x=1&y=2', '/a?x=1&y=2'],
])('parameters that carry credentials by convention: %j', (target, expected) => {
  expect(redactTarget(target, [])).toBe(expected)
})

test.each([
  ['/a?key=s3cret', '/a?key=<redacted>'],
  ['/a?x=1&key=s3cret&key=other&y', '/a?x=1&key=<redacted>&key=<redacted>&y'],
  ['/a?%6bey=s3cret', '/a?%6bey=<redacted>'],
  ['/a?keys=1', '/a?keys=1'],
  ['/a', '/a'],
  ['/a?%zz=1', '/a?%zz=1'],
])('redactTarget(%j)', (target, expected) => {
  expect(redactTarget(target, ['key'])).toBe(expected)
})
