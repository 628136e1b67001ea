import { expect, test } from 'vitest'
import {
  EXPECTATION_FAILED,
  HEADERS_TOO_LARGE,
  HOST_INVALID,
  MALFORMED,
  METHOD_NOT_IMPLEMENTED,
  refusalOf,
  URI_TOO_LONG,
  VERSION_NOT_SUPPORTED,
} from './head-outcome.ts'

test.each([
  [MALFORMED, 'malformed-request'],
  [HOST_INVALID, 'host-invalid'],
  [URI_TOO_LONG, 'uri-too-long'],
  [HEADERS_TOO_LARGE, 'headers-too-large'],
  [EXPECTATION_FAILED, 'expectation-failed'],
  [VERSION_NOT_SUPPORTED, 'version-not-supported'],
  [METHOD_NOT_IMPLEMENTED, 'method-not-implemented'],
])('a head with the outcome %i is refused with %s', (outcome, refusal) => {
  expect(refusalOf(outcome)).toBe(refusal)
})
