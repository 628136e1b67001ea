import type { ConnectFailure, ConnectFailureCode } from './failure.ts'

/** Limits text from the peer, such as the names of a certificate. */
const MAX_DETAIL_LENGTH = 300

const CODES: Readonly<Record<string, ConnectFailureCode>> = {
  ECONNREFUSED: 'connection-refused',
  // A Unix socket that does not exist, or that the gateway may not open.
  ENOENT: 'connection-refused',
  ENOTDIR: 'connection-refused',
  ELOOP: 'connection-refused',
  EACCES: 'connection-refused',
  EHOSTUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENETDOWN: 'unreachable',
  ETIMEDOUT: 'connect-timeout',
  EMFILE: 'resources-exhausted',
  ENFILE: 'resources-exhausted',
  ENOBUFS: 'resources-exhausted',
  ENOMEM: 'resources-exhausted',
  EADDRNOTAVAIL: 'resources-exhausted',
  // Results of X509_verify_cert, as named by Node.
  CERT_HAS_EXPIRED: 'certificate-expired',
  CERT_NOT_YET_VALID: 'certificate-expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate-name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate-untrusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate-untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate-untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate-untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate-untrusted',
  CERT_UNTRUSTED: 'certificate-untrusted',
  CERT_REJECTED: 'certificate-invalid',
  CERT_REVOKED: 'certificate-invalid',
  CERT_CHAIN_TOO_LONG: 'certificate-invalid',
  CERT_SIGNATURE_FAILURE: 'certificate-invalid',
  INVALID_CA: 'certificate-invalid',
  INVALID_PURPOSE: 'certificate-invalid',
  PATH_LENGTH_EXCEEDED: 'certificate-invalid',
}

/** Resolver errors which mean that the name does not exist or has no address. */
export const NO_SUCH_NAME: ReadonlySet<string> = new Set([
  'ENOTFOUND',
  'ENODATA',
  'EBADNAME',
  'EAI_NONAME',
  'EAI_NODATA',
])

/** Members of errors of OpenSSL and of failed connections. */
interface SystemErrorMembers {
  readonly reason?: string
  readonly address?: string
}

/** @param secured the connection uses TLS; a reset is then a failed handshake */
export function connectFailure(error: NodeJS.ErrnoException, secured: boolean): ConnectFailure {
  return { code: codeOf(error, secured), detail: detailOf(error) }
}

/** The part of a message that the code already expresses; the address stays, because a name may have several. */
const IMPLIED_BY_CODE = /^connect (?:ECONNREFUSED|ETIMEDOUT) /

/** Why a Unix socket cannot be opened. */
const SOCKET_CAUSES: Readonly<Record<string, string>> = {
  ENOENT: 'the socket does not exist',
  ENOTDIR: 'the socket does not exist',
  EACCES: 'the gateway is not permitted to open the socket',
  ECONNREFUSED: 'no server listens on the socket',
}

/** OpenSSL errors have a `reason`; their message is a line of the error queue. The text after a semicolon is advice to users of Node. */
function detailOf({ code = '', message, reason, address }: NodeJS.ErrnoException & SystemErrorMembers): string {
  const cause = address?.startsWith('/') === true ? SOCKET_CAUSES[code] : undefined
  if (cause !== undefined) return `${cause}: ${address}`
  const text = typeof reason === 'string' ? reason : message.replace(IMPLIED_BY_CODE, '')
  return text.replace(/; if the root CA is installed locally.*$/, '').slice(0, MAX_DETAIL_LENGTH)
}

/** @param error null: the resolver returned no address */
export function lookupFailure(host: string, error: NodeJS.ErrnoException | null): ConnectFailure {
  if (error === null) return { code: 'name-unknown', detail: `no addresses found for ${host}` }
  const code = NO_SUCH_NAME.has(error.code ?? '') ? 'name-unknown' : 'name-lookup-failed'
  return { code, detail: error.message.slice(0, MAX_DETAIL_LENGTH) }
}

function codeOf({ code = '' }: NodeJS.ErrnoException, secured: boolean): ConnectFailureCode {
  return CODES[code] ?? (secured ? 'handshake-failed' : 'connect-failed')
}
