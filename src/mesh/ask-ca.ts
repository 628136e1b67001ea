import { clock } from '#base/clock.ts'
import { cutText } from '#base/cut-text.ts'
import { decodeMessage, encodeMessage, field, INT64, message, repeated, STRING } from '#base/protobuf/message.ts'
import { escapeInvisible } from '#base/visible-text.ts'
import { type GrpcAccess, grpcAccess } from '#net/grpc/grpc-access.ts'
import { type GrpcMethod, GrpcStream } from '#net/grpc/grpc-stream.ts'
import { createClientPool } from '#net/pool/client-pool.ts'
import { type FailureReason, MeshFailure } from './mesh-failure.ts'

// The published service `istio.v1.auth.IstioCertificateService`: the fields that we write or read.

/** `IstioCertificateRequest`. The CA takes the identity from the token. */
export const CERTIFICATE_REQUEST = message({ csr: field(1, STRING), validityDuration: field(3, INT64) })
/** `IstioCertificateResponse`: the certificate, then those up to the root. */
export const CERTIFICATE_RESPONSE = message({ certChain: repeated(1, STRING) })

/** Longest wait for the whole answer. */
const LIMIT_MS = 10_000

export const CREATE_CERTIFICATE: GrpcMethod = {
  path: '/istio.v1.auth.IstioCertificateService/CreateCertificate',
  responseMs: LIMIT_MS,
  maxMessageBytes: 64 * 1024,
}

/** Of texts of the server. */
const MAX_TEXT = 300

/** What is asked, and of whom. */
export interface CaQuestion {
  /** With scheme https, or http to this machine. */
  readonly url: URL
  /** Root certificates in PEM that the certificate of the CA must lead to. */
  readonly roots: string
  /** Where they are from, for messages. */
  readonly rootsFile: string
  readonly token: string
  /** PKCS #10 in PEM. */
  readonly csr: string
  /** Wanted life of the certificate; the CA may give less. */
  readonly lifeSeconds: number
}

/**
 * Asks a CA for a certificate. Each question has a connection of its own, with the root certificates and the token of now.
 * @returns texts in PEM, not checked
 * @throws MeshFailure
 */
export async function askCa(question: CaQuestion, signal: AbortSignal): Promise<readonly string[]> {
  const { url, roots, rootsFile, token, csr, lifeSeconds } = question
  const pool = createClientPool()
  try {
    const request = encodeMessage(CERTIFICATE_REQUEST, { csr, validityDuration: lifeSeconds })
    const { message, why, code } = await call(pool, grpcAccess(url, { ca: roots, token }), request, signal)
    if (why !== undefined) {
      const text = cutText(escapeInvisible(why.replaceAll(token, '***')), MAX_TEXT)
      throw failureOf(text, code, rootsFile)
    }
    const chain = message && decodeMessage(CERTIFICATE_RESPONSE, message)?.certChain
    if (chain === undefined) throw new MeshFailure('answer', 'the answer has no certificates')
    return chain
  } finally {
    pool.close()
  }
}

interface CallResult {
  readonly message: Uint8Array | undefined
  /** Undefined: the status is OK. */
  readonly why: string | undefined
  /** See `StreamOwner`. */
  readonly code: string | undefined
}

function call(
  pool: ReturnType<typeof createClientPool>,
  access: GrpcAccess,
  request: Uint8Array,
  signal: AbortSignal,
): Promise<CallResult> {
  return new Promise((resolve) => {
    let message: Uint8Array | undefined
    const give = (why: string, code: string) => stream.cancel(why, code)
    const limit = clock.after(LIMIT_MS, () => give('timeout', 'timeout'))
    const closed = () => give('the proxy is stopping', 'cancelled')
    const stream = new GrpcStream(pool, access, CREATE_CERTIFICATE, {
      message(bytes) {
        if (message !== undefined) stream.cancel('the answer has more than one message')
        message = bytes
      },
      over(why, code) {
        limit.cancel()
        signal.removeEventListener('abort', closed)
        resolve({ message, why, code })
      },
    })
    signal.addEventListener('abort', closed)
    stream.send(request)
    stream.finish()
  })
}

/** @param code see `StreamOwner` */
function failureOf(why: string, code: string | undefined, rootsFile: string): MeshFailure {
  const [reason, words] = describe(why, code, rootsFile)
  return new MeshFailure(reason, words)
}

function describe(why: string, code: string | undefined, rootsFile: string): readonly [FailureReason, string] {
  switch (code) {
    case undefined:
      return ['answer', why]
    // Of this call, or of the connection for the head of the response.
    case 'timeout':
      return ['unreachable', `no answer within ${LIMIT_MS / 1000} seconds`]
    case 'certificate-untrusted':
      return ['untrusted', `its certificate is not signed by a root in ${rootsFile} (${why})`]
    case 'certificate-name':
    case 'certificate-expired':
    case 'certificate-invalid':
      return ['untrusted', `its certificate cannot be used (${why})`]
    default:
      // Names of statuses are in capitals, codes of failed connections are not.
      return /^[A-Z]/.test(code) ? ['refused', `it refused: ${why}`] : ['unreachable', why]
  }
}
