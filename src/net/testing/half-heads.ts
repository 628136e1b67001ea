/**
 * A program, because the defect it looks for ends the process: peers do not read a body, send a header block without its end,
 * and disconnect. `node --expose-gc half-heads.ts` prints the name of each case that it has survived.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { FixedBody } from '../body/fixed-body.ts'
import { Head } from '../http/head.ts'
import { createClientPool } from '../pool/client-pool.ts'
import { BODY_LENGTH } from '../stream.ts'
import { ask } from './ask.ts'
import type { FrameConnection } from './frame-connection.ts'
import { FrameServer } from './frame-server.ts'
import { END_HEADERS, type Field, HEADERS, headerBlock, uint32, WINDOW_UPDATE } from './frames.ts'
import { SessionRig } from './session-rig.ts'

const PEERS = 8

/** The window allows the whole body, and the kernel does not buffer that much for a peer that does not read. */
const WINDOW = 1_000_000_000
const INITIAL_WINDOW_SIZE = 4
const BODY = 'b'.repeat(8_000_000)

const POST: readonly Field[] = [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', '/'],
  [':authority', 'a.test'],
]

/** Long enough that the block has arrived, and less than `LEAVE_MS`. */
const CUT_MS = 40
const LEAVE_MS = 80

async function leave(peer: FrameConnection, stream: number): Promise<void> {
  peer.socket.pause()
  peer.send(HEADERS, 0, stream, headerBlock([['x-half', 'h'.repeat(300)]]))
  await sleep(LEAVE_MS)
  peer.socket.resetAndDestroy()
}

/** Collects a session and its stream together. */
async function collectGarbage(): Promise<void> {
  for (let i = 0; i < 3; i++) {
    await sleep(2)
    await globalThis.gc?.({ type: 'major', execution: 'async' })
  }
}

async function serve(cut: boolean): Promise<void> {
  const rig = await SessionRig.start()
  rig.handler.onRequest = (stream) => {
    stream.respond(Head.response(200), BODY_LENGTH, BODY.length)
    new FixedBody(BODY).pipe(stream.response)
    if (cut) setTimeout(() => stream.abort(), CUT_MS)
  }
  for (let i = 0; i < PEERS; i++) {
    const client = await rig.raw([[INITIAL_WINDOW_SIZE, WINDOW]])
    client.send(WINDOW_UPDATE, 0, 0, uint32(WINDOW))
    client.request(1, POST, END_HEADERS)
    await client.until(({ type }) => type === HEADERS)
    await leave(client, 1)
    await collectGarbage()
  }
  rig.close()
}

async function request(): Promise<void> {
  const server = await new FrameServer((peer) => {
    peer.settings([INITIAL_WINDOW_SIZE, WINDOW])
    peer.send(WINDOW_UPDATE, 0, 0, uint32(WINDOW))
    peer.onRequest = (stream) => void leave(peer, stream)
  }).start()
  const pool = createClientPool()
  for (let i = 0; i < PEERS; i++) {
    await ask(pool, server.destination, { method: 'POST', body: BODY })
    await collectGarbage()
  }
  pool.close()
  server.close()
}

const CASES: Readonly<Record<string, () => Promise<void>>> = {
  'a client disconnects': () => serve(false),
  'a client disconnects after its response was cut': () => serve(true),
  'a server disconnects': request,
}

for (const [name, run] of Object.entries(CASES)) {
  await run()
  process.stdout.write(`${name}\n`)
}
