import { once } from 'node:events'
import {
  createSecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import 'reflect-metadata'
import * as x509 from '@peculiar/x509'
import { decodeMessage, encodeMessage } from '#base/protobuf/message.ts'
import { FrameReader, frameMessage } from '#net/grpc/message-frame.ts'
import { encodeGrpcMessage } from '#net/grpc/status-fields.ts'
import { type Authority, issue, type Keys, newAuthority, newKeys, pemOfKey, type Span } from '#net/testing/authority.ts'
import { CERTIFICATE_REQUEST, CERTIFICATE_RESPONSE, CREATE_CERTIFICATE } from './ask-ca.ts'

/** Test support: a CA of a mesh, which speaks gRPC. */

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const DAY_MS = 86_400_000
const SUBJECT_ALT_NAME = '2.5.29.17'

/** What a CA was asked. */
export interface SeenQuestion {
  readonly authorization: string | undefined
  readonly lifeSeconds: number | undefined
  /** URIs of the request, whose signature is correct. */
  readonly uris: readonly string[]
}

/** How a CA answers a question. */
export type CaAnswer =
  | { readonly chain: readonly string[] }
  | { readonly status: number; readonly message?: string }
  | { readonly bytes: Uint8Array }
  | 'nothing'

export interface FakeCa extends AsyncDisposable {
  /** `https://127.0.0.1:port` */
  readonly url: string
  /** Root certificates that its server leads to. */
  readonly roots: string
  readonly authority: Authority
  readonly seen: SeenQuestion[]
  /** Answers as a CA does, by default. */
  answer: (question: { readonly publicKey: Keys['publicKey']; readonly uris: readonly string[] }) => Promise<CaAnswer>
}

/** A CA of a mesh: `istio.v1.auth.IstioCertificateService`, under TLS. @param span of what it issues */
export async function startFakeCa(span: Span = {}, root?: Authority): Promise<FakeCa> {
  const authority = root ?? (await newAuthority('Mesh root'))
  const keys = await newKeys()
  const cert = await issue(authority, keys.publicKey, { hosts: ['127.0.0.1'], forMs: 3650 * DAY_MS })
  const server = createSecureServer({ cert, key: await pemOfKey(keys) })
  const sessions = new Set<ServerHttp2Session>()
  const seen: SeenQuestion[] = []
  const ca: Omit<FakeCa, 'url' | typeof Symbol.asyncDispose> & { answer: FakeCa['answer'] } = {
    roots: authority.pem,
    authority,
    seen,
    answer: async ({ publicKey, uris }) => ({
      chain: [await issue(authority, publicKey, { ...span, uris }), authority.pem],
    }),
  }
  server.on('session', (session) => {
    sessions.add(session)
    session.on('close', () => sessions.delete(session))
  })
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    void serve(stream as ServerHttp2Stream, headers)
  })
  const serve = async (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    if (headers[':path'] !== CREATE_CERTIFICATE.path) return end(stream, 12)
    const reader = new FrameReader(65_536)
    for await (const piece of stream) reader.push(piece as Buffer)
    const { csr = '', validityDuration } = decodeMessage(CERTIFICATE_REQUEST, reader.next()!) ?? {}
    const request = new x509.Pkcs10CertificateRequest(csr)
    if (!(await request.verify())) return end(stream, 3, 'the signature of the request is wrong')
    const extension = request.getExtension(SUBJECT_ALT_NAME)
    const names = extension ? new x509.SubjectAlternativeNameExtension(extension.rawData).names.items : []
    const uris = names.filter(({ type }) => type === 'url').map(({ value }) => value)
    seen.push({ authorization: headers.authorization, lifeSeconds: validityDuration, uris })
    const answer = await ca.answer({ publicKey: await request.publicKey.export(ALGORITHM, ['verify']), uris })
    if (answer === 'nothing' || stream.destroyed) return
    if ('status' in answer) return end(stream, answer.status, answer.message)
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    const bytes = 'bytes' in answer ? answer.bytes : encodeMessage(CERTIFICATE_RESPONSE, { certChain: answer.chain })
    stream.end(frameMessage(bytes))
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    for (const session of sessions) session.destroy()
    const closed = once(server, 'close')
    server.close()
    await closed
  }
  return Object.assign(ca, {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: close,
  })
}

function end(stream: ServerHttp2Stream, status: number, message = ''): void {
  const grpc = { 'grpc-status': `${status}`, 'grpc-message': encodeGrpcMessage(message) }
  stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...grpc }, { endStream: true })
}
