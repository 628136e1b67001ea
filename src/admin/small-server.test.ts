import { expect, test } from 'vitest'
import type { StreamClient } from './answer.ts'
import { startSmallServer } from './small-server.ts'
import { ask, failOnBug } from './testing.ts'

/** More than Node and the kernel take at once. */
const MUCH = 'x'.repeat(8 * 1024 * 1024)

test('a stream learns when its client has taken what waited, and when the server closes', async () => {
  let ended = 0
  const stream = (client: StreamClient) => {
    client.onTaken(() => {
      client.write(`${client.unsentBytes} left`)
      void server.close()
    })
    client.write(MUCH)
    return () => {
      ended++
    }
  }
  const server = await startSmallServer({
    host: '127.0.0.1',
    port: 0,
    purpose: 'test',
    endpoints: { '/': { method: 'GET', answer: () => ({ contentType: 'text/plain', stream }) } },
    reportBug: failOnBug,
  })
  const { body } = await ask(server.port, '/')
  expect(body.slice(MUCH.length)).toBe('0 left')
  expect(ended).toBe(1)
})
