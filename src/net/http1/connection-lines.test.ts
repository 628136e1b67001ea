import { expect, test } from 'vitest'
import { Head } from '../http/head.ts'
import { connectionLines } from './connection-lines.ts'

const heads: [status: number, upgrade: string | undefined, toHttp10: boolean, closes: boolean, lines: string][] = [
  [200, 'x/1', false, false, ''],
  [200, 'x/1', false, true, 'connection: close\r\n'],
  [200, undefined, true, false, 'connection: keep-alive\r\n'],
  [426, undefined, false, false, ''],
  [426, undefined, false, true, 'connection: close\r\n'],
  [426, 'x/1', false, false, 'connection: upgrade\r\nupgrade: x/1\r\n'],
  [426, 'x/1', false, true, 'connection: close, upgrade\r\nupgrade: x/1\r\n'],
  [426, 'x/1', true, true, 'connection: close\r\n'],
]
test.each(heads)(
  'a %i with the upgrade %s (to HTTP/1.0: %s, closes: %s) has %j',
  (status, upgrade, to10, closes, lines) => {
    const own = Head.response(status)
    const forwarded = Head.response(status)
    if (upgrade !== undefined) {
      own.set('upgrade', upgrade)
      forwarded.upgrade = upgrade
    }
    expect(connectionLines(own, to10, closes)).toBe(lines)
    expect(connectionLines(forwarded, to10, closes)).toBe(lines)
  },
)
