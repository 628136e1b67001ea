import { FixedBody } from '../body/fixed-body.ts'
import type { Destination } from '../destination.ts'
import type { FailureCode, ReplayCause } from '../failure.ts'
import { Head } from '../http/head.ts'
import {
  type Abort,
  BODY_CHUNKED,
  BODY_NONE,
  type ClientHandler,
  type ClientPool,
  type ClientStream,
} from '../stream.ts'
import { TextSink } from './recording-handler.ts'

/** The result of a request. */
export interface Result {
  readonly stream: ClientStream
  readonly status: number
  readonly body: string
  readonly trailers: Head | undefined
  readonly failure: FailureCode | undefined
  /** The detail of the failure. */
  readonly detail: string | undefined
  /** The server may have processed the failed request. */
  readonly sent: boolean | undefined
  /** Why the request was sent again. */
  readonly replays: readonly ReplayCause[]
  /** Why the response body was truncated. */
  readonly aborted: Abort | undefined
  readonly informed: readonly number[]
}

export interface Asked {
  readonly method?: string
  readonly path?: string
  readonly body?: string
  readonly chunked?: boolean
  readonly timeoutMs?: number
  /** The receiver of the response body is backed up after each part. */
  readonly backed?: boolean
  readonly headers?: Readonly<Record<string, string>>
  readonly takesTrailers?: boolean
  /** Called with the head of the response. */
  readonly responded?: () => void
}

/** Sends a request and waits for its result. */
export function ask(pool: ClientPool, destination: Destination, asked: Asked = {}): Promise<Result> {
  const { method = 'GET', path = '/', body = '', chunked = false, timeoutMs = 0, backed = false } = asked
  return new Promise((resolve) => {
    const informed: number[] = []
    const replays: ReplayCause[] = []
    const result = {
      informed,
      replays,
      status: 0,
      body: '',
      trailers: undefined,
      failure: undefined,
      detail: undefined,
      sent: undefined,
      aborted: undefined,
    }
    const sink = new TextSink()
    sink.backed = backed
    const handler: ClientHandler = {
      response: (stream) => {
        const { status } = stream.head
        const settle = (aborted?: Abort) => {
          resolve({ ...result, stream, status, body: sink.text, trailers: stream.trailers, aborted })
        }
        sink.onEnd = settle
        sink.abort = settle
        stream.body.pipe(sink)
        asked.responded?.()
      },
      informed: (_, { status }) => informed.push(status),
      upgraded: (stream) => stream.cancel(),
      replayed: (_, cause) => replays.push(cause),
      failed: (stream, { code, detail, maybeProcessed }) =>
        resolve({ ...result, stream, failure: code, detail, sent: maybeProcessed }),
    }
    const head = Head.request(method, path)
    head.authority = 'x'
    head.takesTrailers = asked.takesTrailers === true
    for (const [name, value] of Object.entries(asked.headers ?? {})) head.append(name, value)
    const fixed = new FixedBody(body)
    const kind = chunked ? BODY_CHUNKED : fixed.kind
    const stream = pool.send(destination, head, { kind, length: fixed.length }, timeoutMs, handler, undefined)
    if (kind !== BODY_NONE) fixed.pipe(stream.request)
  })
}
