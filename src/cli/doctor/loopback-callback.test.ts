import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { UsageError } from '../usage-error.ts'
import { openCallback } from './loopback-callback.ts'

test('the redirect of the browser is awaited, whatever other programs send', async () => {
  await using callback = await openCallback(0, 10_000)
  const { port } = new URL(callback.address)
  const other = connect(Number(port), '127.0.0.1')
  other.write('GET // HTTP/1.1\r\nhost: x\r\n\r\n')
  const [answer] = (await once(other, 'data')) as [Buffer]
  other.destroy()
  expect(String(answer)).toMatch(/^HTTP\/1\.1 404 /)
  expect((await fetch(`${callback.address}?code=1`)).status).toBe(200)
  expect((await callback.query)?.get('code')).toBe('1')
})

test('a port that is in use is a mistake of the user', async () => {
  await using callback = await openCallback(0, 10_000)
  const again = openCallback(Number(new URL(callback.address).port), 10_000)
  await expect(again).rejects.toThrow(UsageError)
  await expect(again).rejects.toThrow('--redirect-port: listen EADDRINUSE')
})
