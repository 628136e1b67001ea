import { expect, test } from 'vitest'
import { hostPort } from './host-port.ts'

const rows: readonly (readonly [host: string, written: string])[] = [
  ['127.0.0.1', '127.0.0.1:8080'],
  ['::1', '[::1]:8080'],
  ['example.com', 'example.com:8080'],
]

for (const [host, written] of rows) {
  test(`the host ${host} with a port`, () => expect(hostPort(host, 8080)).toBe(written))
}
