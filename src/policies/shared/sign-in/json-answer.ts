import type { Answer } from '#exchange/outcome.ts'
import { Head } from '#net/http/head.ts'
import type { SignInEndpoint } from './endpoint.ts'

type Kind = SignInEndpoint['kind']
type Fields = readonly (readonly [name: string, value: string])[]

/** The methods of each endpoint. */
export const METHODS: Readonly<Record<Kind, readonly string[]>> = {
  resource: ['GET', 'HEAD', 'OPTIONS'],
  server: ['GET', 'HEAD', 'OPTIONS'],
  registration: ['POST', 'OPTIONS'],
}

/** Clients in browsers are from anywhere, and nothing here depends on who asks. */
export function corsFields(kind: Kind): Fields {
  return [
    ['access-control-allow-origin', '*'],
    ['access-control-allow-methods', kind === 'registration' ? 'POST, OPTIONS' : 'GET, OPTIONS'],
    ['access-control-allow-headers', 'content-type, mcp-protocol-version'],
  ]
}

export function answerJson(kind: Kind, status: number, body: string): Answer {
  const head = Head.response(status)
  head.set('content-type', 'application/json')
  // A registration has credentials of its client (RFC 7591, 3.2.1).
  if (kind === 'registration') head.set('cache-control', 'no-store')
  for (const [name, value] of corsFields(kind)) head.set(name, value)
  return { kind: 'answer', head, body }
}

export function answerPreflight(kind: Kind): Answer {
  const head = Head.response(204)
  for (const [name, value] of corsFields(kind)) head.set(name, value)
  return { kind: 'answer', head, body: undefined }
}
