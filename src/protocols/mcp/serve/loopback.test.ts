import { expect, test } from 'vitest'
import { isMeantForLoopback } from './loopback.ts'

const cases: [authority: string, origin: string | undefined, expected: boolean][] = [
  ['localhost', undefined, true],
  ['LOCALHOST:8080', undefined, true],
  ['127.0.0.1:8080', undefined, true],
  ['127.10.0.7', undefined, true],
  ['[::1]:8080', undefined, true],
  ['mcp.localhost:8080', undefined, true],
  ['localhost', 'http://localhost:3000', true],
  ['localhost', 'https://127.0.0.1', true],
  ['localhost', 'null', false],
  ['localhost', 'http://evil.example', false],
  ['localhost', 'http://localhost.evil.example', false],
  ['localhost', 'http://evil.example#localhost', false],
  ['localhost', 'http://localhost@evil.example', false],
  ['localhost', 'file://localhost', false],
  ['localhost', 'http://localhost, http://evil.example', false],
  ['evil.example', undefined, false],
  ['evil.example', 'http://localhost', false],
  ['127.0.0.1.evil.example', undefined, false],
  ['127.0.0.1x', undefined, false],
  ['', undefined, false],
]

test.each(cases)('host %s, origin %s', (authority, origin, expected) => {
  expect(isMeantForLoopback(authority, origin)).toBe(expected)
})
