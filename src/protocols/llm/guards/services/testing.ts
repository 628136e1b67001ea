import { type Call, CallError, type CallFailure, type CallRequest, type CallResponse } from '#exchange/call.ts'
import { Head } from '#net/http/head.ts'
import type { GuardPhase, GuardQuestion, GuardSurroundings } from './service.ts'

/** What a service got. */
export interface AskedCall {
  readonly destination: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  readonly request: CallRequest
}

export interface FakeAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** JSON, unless it is text or bytes. */
  readonly body?: unknown
  /** Pieces of this many bytes. */
  readonly piece?: number
  readonly breaks?: CallFailure
}

/** A `Call` that a test answers; a failure is one without a response. */
export function fakeCall(answer: (asked: AskedCall) => FakeAnswer | CallFailure | Promise<FakeAnswer | CallFailure>) {
  const asked: AskedCall[] = []
  const closed: string[] = []
  const call: Call = async (destination, request) => {
    const headers = Object.fromEntries(request.headers)
    const text = new TextDecoder().decode(request.body as Uint8Array)
    const one = { destination, path: request.path, headers, body: JSON.parse(text) as unknown, request }
    asked.push(one)
    const given = await answer(one)
    if (typeof given === 'string') throw new CallError(given)
    return responseOf(given, () => closed.push(request.path))
  }
  return { call, asked, closed }
}

function responseOf({ status = 200, headers = {}, body, piece, breaks }: FakeAnswer, close: () => void): CallResponse {
  const bytes =
    body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body ?? {}))
  async function* pieces() {
    try {
      const size = piece ?? Math.max(1, bytes.length)
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
      if (breaks !== undefined) throw new CallError(breaks)
    } finally {
      close()
    }
  }
  return {
    status,
    headers: Object.entries(headers),
    header: (name) => headers[name],
    body: pieces(),
    endpoint: '127.0.0.1:80',
    trailer: () => undefined,
  }
}

export function question(
  contents: readonly string[],
  phase: GuardPhase = 'request',
  head = Head.request('POST', '/'),
): GuardQuestion {
  return {
    phase,
    messages: contents.map((content) => ({ role: phase === 'request' ? 'user' : 'assistant', content })),
    head,
  }
}

export function around(call: Call, more: Partial<GuardSurroundings> = {}): GuardSurroundings {
  return { call, signal: new AbortController().signal, untilMs: Number.MAX_SAFE_INTEGER, ...more }
}
