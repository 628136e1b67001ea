import type { Exchange } from '#exchange/exchange.ts'
import type { Answer } from '#exchange/outcome.ts'
import { Head } from '#net/http/head.ts'
import type { ListenerItem } from '#plan/item.ts'

const PREFIX = '/.well-known/acme-challenge/'
/** As RFC 8555, 8.3 has it; servers use 43 characters. */
const TOKEN = /^[\w-]{1,128}$/

/**
 * Answers an http-01 challenge, ahead of routes and policies. The answer depends only on the token and the key of the account (RFC 8555, 8.1),
 * so every worker, and every gateway with the same account, can give it without knowing who asked for a certificate. It is of use only to the
 * owner of that account.
 */
export function answerChallenge({ acmeThumbprint }: ListenerItem, { request, trace }: Exchange): Answer | undefined {
  if (acmeThumbprint === undefined || !request.target.startsWith(PREFIX)) return undefined
  const token = request.target.slice(PREFIX.length)
  if ((request.method !== 'GET' && request.method !== 'HEAD') || !TOKEN.test(token)) return undefined
  const detail = 'the answer to an http-01 challenge, before routes and policies'
  trace?.step({ stage: 'pre-routing', name: 'acme', verdict: 'answer', detail, origins: [] })
  const head = Head.response(200)
  head.set('content-type', 'application/octet-stream')
  return { kind: 'answer', head, body: `${token}.${acmeThumbprint}` }
}
