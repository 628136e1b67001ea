import { createServer } from 'node:net'

/**
 * Ports that no system gives to sockets which ask for any port: those are 32768 and above. The admin port of a gateway, say, would
 * now and then be the one that a test has just found free.
 */
const FIRST = 20_000
/** Test files that run at the same time take theirs from different parts. */
const PART = 1000
const PARTS = 12

const part = FIRST + PART * (Number(process.env.VITEST_POOL_ID ?? 0) % PARTS)
let next = Math.floor(Math.random() * PART)

/** A port that is free, and that nobody takes by chance. */
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
