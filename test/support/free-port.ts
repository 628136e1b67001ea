import { createServer } from 'node:net'

/**
 * The first port of the range. It is below the ephemeral ports (32768 and above), so that a socket that binds port 0, such as the admin
 * port of a gateway, never takes a port that a test has just found free.
 */
const FIRST = 20_000
/** Size of the part of the range that each concurrent test file uses. */
const PART = 1000
const PARTS = 12

const part = FIRST + PART * (Number(process.env.VITEST_POOL_ID ?? 0) % PARTS)
let next = Math.floor(Math.random() * PART)

/** A free port that no other process is likely to take. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < PART; tried++) {
    const port = part + (next++ % PART)
    if (await isFree(port)) return port
  }
  throw new Error(`no port is free from ${part} on`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ host: '127.0.0.1', port }, () => server.close(() => resolve(true)))
  })
}
