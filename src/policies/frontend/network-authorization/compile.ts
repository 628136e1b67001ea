import type { Exchange } from '#exchange/exchange.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import { compileRules, describeDenial, expressionsOf, firstDenial } from '../../shared/authorization/rules.ts'
import type { NetworkAuthorizationSpec } from './schema.ts'

/** Rules for connections; evaluated once per connection, with an exchange that has a peer but no request yet. */
export interface NetworkAuthorization {
  /** The rule that denies, for the log; undefined: the connection is allowed. */
  denial(connection: Exchange): string | undefined
  /** Some rule reads the client certificate: all rules are evaluated after the TLS handshake, else before it (decision A-48). */
  readonly readsCertificate: boolean
  /** Some rule reads the address of the socket, which no PROXY header can change. */
  readonly readsRawAddress: boolean
}

const CERTIFICATE_FIELDS = [
  'source.identity',
  'source.spiffeId',
  'source.subjectAltNames',
  'source.issuer',
  'source.subject',
  'source.subjectCn',
  'source.certificate',
]

/** @returns undefined without rules: all connections are allowed */
export function compileNetworkAuthorization(
  sources: readonly PolicySource<NetworkAuthorizationSpec>[],
  context: CompileContext,
): NetworkAuthorization | undefined {
  if (sources.length === 0) return undefined
  const rules = compileRules(sources, context, 'network')
  const references = expressionsOf(rules).flatMap((expression) => [...expression.references])
  return {
    denial(connection) {
      const denied = firstDenial(rules, connection)
      return denied === undefined ? undefined : (connection.exceeded ?? describeDenial(denied, connection))
    },
    readsCertificate: references.some(isOfCertificate),
    readsRawAddress: references.includes('source.rawAddress'),
  }
}

function isOfCertificate(reference: string): boolean {
  return CERTIFICATE_FIELDS.some((field) => reference === field || reference.startsWith(`${field}.`))
}
