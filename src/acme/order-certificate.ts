import { pause } from '#base/clock.ts'
import { createRequest } from '#net/certificate-request.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import { AcmeFailure } from './acme-failure.ts'
import { type AcmeAnswer, type AcmeServer, describeProblem, textOf } from './acme-server.ts'

/** PEM texts. */
export interface KeyPair {
  /** With the certificates between it and the root. */
  readonly certificate: string
  readonly key: string
}

/** Between looks at what the server does; it may ask for more. */
const LOOK_MS = 2000
const LONGEST_LOOK_MS = 30_000
/** A server checks a challenge several times, and from several places. */
const MAX_LOOKS = 60

/**
 * Gets a certificate (RFC 8555, 7.4). The gateway answers the challenges already.
 * @throws AcmeFailure
 */
export async function orderCertificate(server: AcmeServer, hostnames: readonly string[]): Promise<KeyPair> {
  const identifiers = hostnames.map((value) => ({ type: 'dns', value }))
  const opened = await server.post(server.urlOf('newOrder'), { identifiers })
  const { location: order } = opened
  if (order === undefined) throw new AcmeFailure('the server returned no order')
  for (const authorization of textsOf(opened, 'authorizations')) await prove(server, authorization)
  const ready = await until(server, order, ['ready', 'valid'])
  const { csr, key } = await createRequest(hostnames.map((value) => ({ type: 'dns', value })))
  await server.post(textOf(ready.json, 'finalize'), { csr: Buffer.from(csr).toString('base64url') })
  const done = await until(server, order, ['valid'])
  const { text: certificate } = await server.post(textOf(done.json, 'certificate'))
  checkPair({ certificate, key }, hostnames)
  return { certificate, key }
}

/** Proves that the gateway answers for a host. */
async function prove(server: AcmeServer, authorization: string): Promise<void> {
  const { json } = await server.post(authorization)
  if (json.status === 'valid') return
  const challenges = Array.isArray(json.challenges) ? (json.challenges as Readonly<Record<string, unknown>>[]) : []
  const challenge = challenges.find(({ type }) => type === 'http-01')
  if (challenge === undefined) throw new AcmeFailure('the server offers no http-01 challenge')
  if (challenge.status === 'pending') await server.post(textOf(challenge, 'url'), {})
  await until(server, authorization, ['valid'])
}

/** Waits until an order or an authorization has one of these states. @throws AcmeFailure if it gets another final one */
async function until(server: AcmeServer, url: string, states: readonly string[]): Promise<AcmeAnswer> {
  for (let look = 0; look < MAX_LOOKS; look++) {
    const answer = await server.post(url)
    const { status } = answer.json
    if (states.includes(String(status))) return answer
    // An order is `ready` until the server has begun to issue.
    if (status !== 'pending' && status !== 'processing' && status !== 'ready') {
      throw new AcmeFailure(problemOf(answer.json) || `the server ended with the state ${status}`)
    }
    await pause(Math.min(answer.retryAfterMs ?? LOOK_MS, LONGEST_LOOK_MS))
  }
  throw new AcmeFailure(`the server did not finish within ${MAX_LOOKS} polls`)
}

/** An order has an error itself, an authorization in its challenge; it belongs to a host. */
function problemOf({ error, challenges, identifier }: Readonly<Record<string, unknown>>): string {
  const own = describeProblem(error)
  if (own !== '' || !Array.isArray(challenges)) return own
  const { value } = (identifier ?? {}) as { readonly value?: unknown }
  const words = challenges.map((challenge) => describeProblem((challenge as { error?: unknown }).error))
  const found = words.filter((text) => text !== '').join('; ')
  return found === '' ? '' : `${value}: ${found}`
}

function textsOf({ json }: AcmeAnswer, member: string): readonly string[] {
  const value = json[member]
  if (!Array.isArray(value) || value.some((one) => typeof one !== 'string')) {
    throw new AcmeFailure(`the answer of the server has no ${member}`)
  }
  return value as readonly string[]
}

function checkPair({ certificate, key }: KeyPair, hostnames: readonly string[]): void {
  const fault = TLS_MATERIAL.pairFault(certificate, key)
  if (fault !== undefined) throw new AcmeFailure(`the certificate of the server cannot be used: ${fault}`)
  const names = TLS_MATERIAL.validity(certificate)?.names ?? []
  const missing = hostnames.filter((name) => !names.includes(name))
  if (missing.length > 0) throw new AcmeFailure(`the certificate of the server is not for ${missing.join(', ')}`)
}
