import { X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import { sha256 } from '#base/sha256.ts'
import { TLS_MATERIAL } from '../tls-material.ts'
import type { TlsParameters } from '../tls-parameters.ts'

/** Certificate and key of a Secret: PEM as byte text. */
export interface CertificateSecret {
  readonly data: Readonly<Record<string, string>>
}

/** The TLS material and settings of one listener. */
export interface TlsIdentity {
  /** At most one per key type (RSA, ECDSA) is used: the first. */
  readonly certificates: readonly CertificateSecret[]
  readonly parameters: TlsParameters
  /** PEM of the authorities for client certificates; undefined: no client certificate is requested. */
  readonly clientAuthorities: string | undefined
}

/** How long a client may resume a session (RFC 8446, 4.6.1 allows a week). */
const SESSION_TIMEOUT_SECONDS = 7200

interface Made {
  readonly identity: TlsIdentity
  readonly ticketKeys: Uint8Array
  readonly context: SecureContext | undefined
}

/** TLS contexts by listener; created on first use, and again when their material or settings change. */
export class SecureContexts {
  readonly #made = new Map<string, Made>()
  #ticketKeys: Uint8Array

  /** @param ticketKeys 48 bytes, shared by all workers, so that each can resume sessions of the others */
  constructor(ticketKeys: Uint8Array) {
    this.#ticketKeys = ticketKeys
  }

  /** Replaces the keys: older sessions can no longer be resumed; open connections are not affected. */
  changeTicketKeys(ticketKeys: Uint8Array): void {
    this.#ticketKeys = ticketKeys
  }

  /** Removes the contexts of all other listeners. */
  keep(listeners: ReadonlySet<string>): void {
    for (const listener of this.#made.keys()) if (!listeners.has(listener)) this.#made.delete(listener)
  }

  /** @returns undefined if there is no usable certificate: handshakes then fail */
  of(listener: string, identity: TlsIdentity): SecureContext | undefined {
    const ticketKeys = this.#ticketKeys
    const known = this.#made.get(listener)
    if (known !== undefined && known.ticketKeys === ticketKeys && isSame(known.identity, identity)) return known.context
    const context = make(listener, identity, ticketKeys)
    this.#made.set(listener, { identity, ticketKeys, context })
    return context
  }
}

function isSame(a: TlsIdentity, b: TlsIdentity): boolean {
  return (
    a.parameters === b.parameters &&
    a.clientAuthorities === b.clientAuthorities &&
    a.certificates.length === b.certificates.length &&
    a.certificates.every((certificate, i) => certificate === b.certificates[i])
  )
}

function make(listener: string, identity: TlsIdentity, ticketKeys: Uint8Array): SecureContext | undefined {
  const { certificates, parameters, clientAuthorities } = identity
  // A context has one pair for each key type.
  const pairs = new Map<string, Pair>()
  for (const pair of certificates.flatMap(usablePair)) if (!pairs.has(pair.kind)) pairs.set(pair.kind, pair)
  if (pairs.size === 0) return undefined
  // Without a CA, Node would trust the CAs of the system.
  if (clientAuthorities?.trim() === '') return undefined
  const { groups, ...versionsAndCiphers } = parameters
  return createSecureContext({
    cert: [...pairs.values()].map(({ cert }) => cert),
    key: [...pairs.values()].map(({ key }) => key),
    ...versionsAndCiphers,
    honorCipherOrder: true,
    ...(groups === undefined ? {} : { ecdhCurve: groups }),
    ...(clientAuthorities === undefined ? {} : { ca: clientAuthorities }),
    ticketKeys: Buffer.from(ticketKeys),
    sessionTimeout: SESSION_TIMEOUT_SECONDS,
    sessionIdContext: sessionContext(listener, clientAuthorities),
  })
}

interface Pair {
  readonly cert: string
  readonly key: string
  /** Key type: `rsa`, `ec` and so on. */
  readonly kind: string
}

function usablePair({ data }: CertificateSecret): Pair[] {
  const cert = data['tls.crt']
  const key = data['tls.key']
  if (cert === undefined || key === undefined) return []
  // The status of the listener reports the fault.
  if (TLS_MATERIAL.pairFault(cert, key) !== undefined) return []
  return [{ cert, key, kind: new X509Certificate(cert).publicKey.asymmetricKeyType ?? '' }]
}

/** Restricts resumption to the listener that created the session, with the same client CAs; at most 32 bytes. */
function sessionContext(listener: string, clientAuthorities: string | undefined): string {
  const digest = sha256(Buffer.from(JSON.stringify([listener, clientAuthorities])))
  return Buffer.from(digest).toString('base64').slice(0, 32)
}
