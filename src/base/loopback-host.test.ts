import { expect, test } from 'vitest'
import { isLoopbackHost } from './loopback-host.ts'

test.each([
  ['localhost', true],
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['::1', true],
  ['[::1]', true],
  ['127.0.0.1.evil.test', false],
  ['localhost.evil.test', false],
  ['10.0.0.1', false],
  ['::2', false],
  ['', false],
])('%s is this machine: %s', (host, isHere) => expect(isLoopbackHost(host)).toBe(isHere))
