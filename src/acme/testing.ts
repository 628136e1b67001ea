import { createHash, createPublicKey, type JsonWebKeyInput, randomBytes, verify } from 'node:crypto'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import 'reflect-metadata'
import * as x509 from '@peculiar/x509'
import { clock } from '#base/clock.ts'
import { parseJson } from '#base/parse-json.ts'

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const DAY_MS = 86_400_000

type Jwk = JsonWebKeyInput['key']

interface Jws {
  readonly protected: string
  readonly payload: string
  readonly signature: string
}

interface Order {
  readonly hostnames: readonly string[]
  certificate?: string
}

/** What the server does wrong. */
export interface AcmeFaults {
  /** The next request with a nonce is refused once. */
  badNonce?: boolean
  /** The answer to new orders. */
  refuseOrders?: { readonly status: number; readonly problem: object; readonly retryAfter?: string }
}

export interface FakeAcmeServer extends AsyncDisposable {
  readonly directory: string
  /** Paths of the requests, in order. */
  readonly requests: string[]
  /** Contacts of accounts. */
  readonly contacts: unknown[]
  readonly faults: AcmeFaults
}

/**
 * An ACME server (RFC 8555) with http-01, which checks signatures and nonces.
 * @param challengeUrl where the gateway answers for a host
 */
export async function startFakeAcmeServer(
  challengeUrl: (hostname: string, path: string) => string,
  lifeMs = 90 * DAY_MS,
): Promise<FakeAcmeServer> {
  const requests: string[] = []
  const contacts: unknown[] = []
  const faults: AcmeFaults = {}
  const nonces = new Set<string>()
  const accounts = new Map<string, Jwk>()
  const orders: Order[] = []
  const proofs = new Map<string, { status: string; error?: object }>()
  const authorityKeys = await globalThis.crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  let root = ''

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url!
    requests.push(path)
    const nonce = randomBytes(16).toString('base64url')
    nonces.add(nonce)
    response.setHeader('replay-nonce', nonce)
    const reply = (status: number, body?: object | string, location?: string) => {
      if (location !== undefined) response.setHeader('location', location)
      response.writeHead(status).end(typeof body === 'object' ? JSON.stringify(body) : body)
    }
    const problem = (status: number, type: string, detail: string) =>
      reply(status, { type: `urn:ietf:params:acme:error:${type}`, detail })
    if (path === '/directory') {
      const url = (name: string) => `${root}/${name}`
      return reply(200, { newNonce: url('nonce'), newAccount: url('account'), newOrder: url('order') })
    }
    if (path === '/nonce') return reply(200)

    const jws = (await json(request)) as Jws
    const decode = (part: string) => parseJson(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
    const header = decode(jws.protected)
    const jwk = (header.jwk ?? accounts.get(String(header.kid))) as Jwk
    const signed = Buffer.from(`${jws.protected}.${jws.payload}`)
    const key = { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' } as const
    const isSigned = verify('sha256', signed, key, Buffer.from(jws.signature, 'base64url'))
    if (!isSigned || header.url !== `${root}${path}`) return problem(401, 'malformed', 'the signature is wrong')
    if (faults.badNonce || !nonces.delete(String(header.nonce))) {
      delete faults.badNonce
      return problem(400, 'badNonce', 'JWS has an invalid anti-replay nonce')
    }
    const payload = jws.payload === '' ? undefined : decode(jws.payload)
    const [, kind, id = '', host = ''] = path.split('/')
    const order = orders[Number(id)]!
    const orderUrl = `${root}/orders/${id}`

    if (kind === 'account') {
      const { crv, kty, x, y } = jwk
      const account = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
      const url = `${root}/accounts/${account}`
      contacts.push(payload?.contact)
      const isKnown = accounts.has(url)
      accounts.set(url, jwk)
      return reply(isKnown ? 200 : 201, { status: 'valid' }, url)
    }
    if (kind === 'order') {
      const { refuseOrders } = faults
      if (refuseOrders !== undefined) {
        if (refuseOrders.retryAfter !== undefined) response.setHeader('retry-after', refuseOrders.retryAfter)
        return reply(refuseOrders.status, refuseOrders.problem)
      }
      const hostnames = (payload!.identifiers as { value: string }[]).map(({ value }) => value)
      orders.push({ hostnames })
      const url = `${root}/orders/${orders.length - 1}`
      const authorizations = hostnames.map((name) => `${root}/authorizations/${orders.length - 1}/${name}`)
      return reply(201, { status: 'pending', authorizations }, url)
    }
    const proof = proofs.get(`${id}/${host}`) ?? { status: 'pending' }
    if (kind === 'authorizations') {
      const { status, error } = proof
      const challenge = {
        type: 'http-01',
        status,
        url: `${root}/challenges/${id}/${host}`,
        token: `token-${id}`,
        error,
      }
      const identifier = { type: 'dns', value: host }
      return reply(200, { status, identifier, challenges: [{ type: 'dns-01', status: 'pending' }, challenge] })
    }
    if (kind === 'challenges') {
      const thumbprint = String(header.kid).split('/').at(-1)
      const expected = `token-${id}.${thumbprint}`
      const seen = await fetch(challengeUrl(host, `/.well-known/acme-challenge/token-${id}`), { redirect: 'manual' })
        .then((answer) => answer.text())
        .catch((error: Error) => error.message)
      const error = { type: 'urn:ietf:params:acme:error:unauthorized', detail: `the answer was "${seen}"` }
      proofs.set(`${id}/${host}`, seen === expected ? { status: 'valid' } : { status: 'invalid', error })
      return reply(200, { status: 'processing' })
    }
    if (kind === 'finalize') {
      const csr = new x509.Pkcs10CertificateRequest(Buffer.from(String(payload!.csr), 'base64url'))
      const names = csr.getExtension('2.5.29.17')!
      const certificate = await x509.X509CertificateGenerator.create({
        serialNumber: randomBytes(8).toString('hex'),
        issuer: 'CN=Fake authority',
        notBefore: new Date(clock.now()),
        notAfter: new Date(clock.now() + lifeMs),
        publicKey: await csr.publicKey.export(ALGORITHM, ['verify']),
        signingKey: authorityKeys.privateKey,
        signingAlgorithm: ALGORITHM,
        extensions: [names],
      })
      order.certificate = certificate.toString('pem')
      return reply(200, { status: 'processing' })
    }
    if (kind === 'certificates') return reply(200, order.certificate)
    const isReady = order.hostnames.every((name) => proofs.get(`${id}/${name}`)?.status === 'valid')
    const status = order.certificate !== undefined ? 'valid' : isReady ? 'ready' : 'pending'
    const more = { finalize: `${root}/finalize/${id}`, certificate: `${root}/certificates/${id}` }
    return reply(200, { status, ...more }, orderUrl)
  }

  const server = http.createServer((request, response) => {
    handle(request, response).catch((error: Error) => response.writeHead(500).end(error.message))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    directory: `${root}/directory`,
    requests,
    contacts,
    faults,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
