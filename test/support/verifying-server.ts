import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttp2Server, createSecureServer, type Http2ServerRequest } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { SignatureV4 } from '@smithy/signature-v4'
import { VendorSha256 } from './vendor-sha256.ts'
import { verifyEvents } from './verify-events.ts'

/** The credential that a request must be signed with. */
export interface ServerKeys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
  readonly service: string
  readonly region: string
  /** The server accepts this bearer token, too. */
  readonly bearer?: string
}

/** One request, and why its signature is wrong; undefined: it is valid. */
export interface VerifiedRequest {
  readonly fault: string | undefined
  readonly method: string
  readonly target: string
  readonly version: string
  /** As text; of an event stream, the signed events. */
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

export interface VerifyingServer extends AsyncDisposable {
  readonly port: number
  readonly seen: VerifiedRequest[]
  /** Statuses of the next answers to valid requests, before 200. */
  readonly next: number[]
  /** Answers valid requests instead of the server, if it is set. */
  answer: ((response: ServerResponse, body: Buffer) => void) | undefined
}

export interface VerifyingServerOptions {
  readonly http2?: boolean
  /** The server speaks TLS, and HTTP/2 and HTTP/1.1. */
  readonly secure?: { readonly cert: string; readonly key: string }
}

/**
 * A server like those of the cloud: it computes the signature of each request as received, with the vendor's library, and refuses any other one
 * with 403. It also verifies each event of an event stream (`verifyEvents`). It answers valid requests with their body.
 */
export async function startVerifyingServer(
  keys: ServerKeys,
  { http2 = false, secure }: VerifyingServerOptions = {},
): Promise<VerifyingServer> {
  const seen: VerifiedRequest[] = []
  const next: number[] = []
  const server =
    secure === undefined
      ? http2
        ? createHttp2Server()
        : createServer()
      : createSecureServer({ ...secure, allowHTTP1: true })
  // The responses of HTTP/2 have the same methods.
  const onRequest = async (request: IncomingMessage | Http2ServerRequest, response: ServerResponse) => {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
    } catch {
      // The client broke off.
      return
    }
    const received = Buffer.concat(chunks)
    const seed = /[0-9a-f]{64}$/.exec(request.headers.authorization ?? '')?.[0]
    const isStream = request.headers['x-amz-content-sha256'] === 'STREAMING-AWS4-HMAC-SHA256-EVENTS'
    const events = isStream ? verifyEvents(received, String(seed), keys) : undefined
    const body = events?.body ?? received
    const fault = (await faultOf(request, received, keys)) ?? events?.fault
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const { method, httpVersion: version } = request
    seen.push({ fault, method: method!, target: request.url!, version, body: body.toString(), headers })
    if (fault === undefined && result.answer !== undefined) return result.answer(response, body)
    response.writeHead(fault === undefined ? (next.shift() ?? 200) : 403, { 'content-type': 'text/plain' })
    response.end(fault ?? body)
  }
  server.on('request', onRequest as never)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sockets = new Set<{ destroy(): void }>()
  server.on('connection', (socket: { destroy(): void }) => sockets.add(socket))
  const result: VerifyingServer = {
    port: (server.address() as AddressInfo).port,
    seen,
    next,
    answer: undefined,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return result
}

async function faultOf(
  { headers, url, method }: IncomingMessage | Http2ServerRequest,
  body: Buffer,
  { accessKeyId, secretAccessKey, sessionToken, service, region, bearer }: ServerKeys,
): Promise<string | undefined> {
  if (bearer !== undefined && headers.authorization === `Bearer ${bearer}`) return undefined
  const form = /^AWS4-HMAC-SHA256 Credential=([^,]*), SignedHeaders=([^,]*), Signature=([0-9a-f]{64})$/
  const [, credential, names] = form.exec(headers.authorization ?? '') ?? []
  if (names === undefined) return `no signature: ${headers.authorization}`
  const time = String(headers['x-amz-date'])
  const signedAt = Date.parse(time.replace(/(....)(..)(..)T(..)(..)(..)Z/, '$1-$2-$3T$4:$5:$6Z'))
  if (!(Math.abs(Date.now() - signedAt) < 300_000)) return `wrong time: ${time}`
  if (credential !== `${accessKeyId}/${time.slice(0, 8)}/${region}/${service}/aws4_request`)
    return `wrong scope: ${credential}`
  if (headers['x-amz-security-token'] !== sessionToken) return 'wrong session token'
  const signed = names.split(';')
  const must = Object.keys(headers).filter((name) => name.startsWith('x-amz-') || name === 'content-type')
  const unsigned = ['host', ...must].filter((name) => !signed.includes(name))
  if (unsigned.length > 0) return `not signed: ${unsigned.join()}`
  const host = headers.host ?? String(headers[':authority'])
  const [path, search = ''] = url!.split(/\?(.*)/s)
  const query: Record<string, string> = {}
  for (const [name, value] of new URLSearchParams(search)) query[name] = value
  const signer = new SignatureV4({
    // Session tokens are among the fields already.
    credentials: { accessKeyId, secretAccessKey },
    service,
    region,
    sha256: VendorSha256,
    applyChecksum: false,
    uriEscapePath: service !== 's3',
  })
  const expected = await signer.sign(
    {
      method: method!,
      protocol: 'https:',
      hostname: host,
      path: path!,
      query,
      headers: Object.fromEntries(signed.map((name) => [name, name === 'host' ? host : String(headers[name])])),
      body,
    },
    { signingDate: new Date(signedAt), signableHeaders: new Set(signed) },
  )
  return expected.headers.authorization === headers.authorization ? undefined : 'wrong signature'
}
