import type { Http2Session, Http2Stream } from 'node:http2'

/** Description of the symbol under which Node keeps the native object of a session or a stream. */
const HANDLE = 'kHandle'

/** That symbol, which Node does not export; read from the first object that has it. */
let handle: symbol | undefined

/** Keeps the native object of a session for each of its streams, until the stream is garbage. */
const held = new FinalizationRegistry<object>((session) => {
  // V8 frees the native object of the stream in a task of its own, which runs before the next turn.
  if (released.length === 0) setImmediate(release)
  released.push(session)
})

/** The native objects of sessions to let go of in the next turn. */
const released: object[] = []

/**
 * Keeps the native object of `session` until that of `stream` has been freed. A stream that is destroyed while its output is pending
 * is left to the garbage collector, as is its session, in any order. If the session is freed first and the stream holds an
 * incomplete header block, Node aborts the process (docs/decisions/0121-http2.md).
 */
export function freeInOrder(stream: Http2Stream, session: Http2Session): void {
  const first = nativeObject(stream)
  const last = nativeObject(session)
  if (first !== undefined && last !== undefined) held.register(first, last)
}

function release(): void {
  released.length = 0
}

function nativeObject(owner: object): object | undefined {
  handle ??= Object.getOwnPropertySymbols(owner).find(({ description }) => description === HANDLE)
  return handle === undefined ? undefined : (owner as Record<symbol, object | undefined>)[handle]
}
