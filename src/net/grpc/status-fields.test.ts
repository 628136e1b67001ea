import { expect, test } from 'vitest'
import { decodeGrpcMessage, encodeGrpcMessage, grpcStatusName, grpcTimeout, readGrpcTimeout } from './status-fields.ts'

test('names of statuses', () => {
  expect(['0', '7', '14', '16'].map(grpcStatusName)).toEqual([
    'OK',
    'PERMISSION_DENIED',
    'UNAVAILABLE',
    'UNAUTHENTICATED',
  ])
  for (const odd of ['17', '99', '-1', '00', '07', '', '1.0', 'OK', '100000']) {
    expect(grpcStatusName(odd), odd).toBe('UNKNOWN')
  }
})

test('texts of statuses', () => {
  expect(encodeGrpcMessage('not now: grün 100%')).toBe('not%20now:%20gr%C3%BCn%20100%25')
  expect(decodeGrpcMessage('not%20now: gr%C3%BCn 100%25')).toBe('not now: grün 100%')
  expect(decodeGrpcMessage('100% sure')).toBe('100% sure')
})

test('time limits have at most eight digits', () => {
  expect([1, 0.2, 2000, 99_999_999, 100_000_000, 1e15].map(grpcTimeout)).toEqual([
    '1m',
    '1m',
    '2000m',
    '99999999m',
    '100000S',
    '99999999S',
  ])
})

test.each([
  ['200m', 200],
  ['2S', 2000],
  ['1M', 60_000],
  ['1H', 3_600_000],
  ['1500u', 2],
  ['99999999n', 100],
  ['0S', 1],
  ['99999999H', 2_147_483_647],
  ['', undefined],
  ['1', undefined],
  ['S', undefined],
  ['123456789m', undefined],
  ['-1S', undefined],
  ['1.5S', undefined],
  ['1s', undefined],
  [' 1S', undefined],
])('the time limit %j is %j ms', (value, ms) => {
  expect(readGrpcTimeout(value)).toBe(ms)
})
