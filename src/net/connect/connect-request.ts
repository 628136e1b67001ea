import type { Destination } from '../destination.ts'
import type { ConnectFailure } from '../failure.ts'

/** Limit of the head of an answer to CONNECT. */
const MAX_HEAD_BYTES = 8192

const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})[ \r]/
const BEGINNING = 'HTTP/1.'

/** `host:port` as in a request target; an IPv6 address is in brackets. */
export function targetAuthority({ host, port }: Pick<Destination, 'host' | 'port'>): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The request for a tunnel to the destination (RFC 9110, 9.3.6). */
export function connectRequest(destination: Destination, authorization: string | undefined): string {
  const authority = targetAuthority(destination)
  const credential = authorization === undefined ? '' : `proxy-authorization: ${authorization}\r\n`
  return `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${credential}\r\n`
}

/** The tunnel is open; `rest`: bytes of the destination that came with the answer. Or why there is none. */
export type ConnectAnswer = { readonly rest: Buffer } | ConnectFailure

/** Reads the answer to CONNECT. Only status 200 opens the tunnel (decision A-105). @returns undefined if it is not complete */
export function readConnectAnswer(received: Buffer): ConnectAnswer | undefined {
  const end = received.indexOf('\r\n\r\n')
  const head = received.toString('latin1', 0, Math.min(end < 0 ? received.length : end + 2, MAX_HEAD_BYTES))
  if (!head.startsWith(BEGINNING.slice(0, head.length))) return malformed('the proxy server did not answer in HTTP/1')
  if (end < 0 && received.length < MAX_HEAD_BYTES) return undefined
  if (end < 0 || end + 4 > MAX_HEAD_BYTES) {
    return malformed(`the head of the answer of the proxy server exceeds ${MAX_HEAD_BYTES} bytes`)
  }
  const status = STATUS_LINE.exec(head)?.[1]
  if (status === undefined) return malformed('the answer of the proxy server is malformed')
  if (status === '200') return { rest: received.subarray(end + 4) }
  return { code: 'tunnel-refused', detail: `the proxy server answered ${status} to CONNECT` }
}

function malformed(detail: string): ConnectFailure {
  return { code: 'tunnel-failed', detail }
}
