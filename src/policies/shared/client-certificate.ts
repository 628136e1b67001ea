import { type Refusal, reject } from '#exchange/outcome.ts'
import type { SettingDefinition } from '../policy.ts'
import { type KeyPair, readKeyPair } from './connection/key-pair.ts'

/** The Secret with the certificate. A ReferenceGrant permits other namespaces than that of the Gateway. */
export interface ClientCertificateSpec {
  readonly name: string
  readonly namespace: string
}

export interface ClientCertificateSetting {
  readonly pair: KeyPair | undefined
  /** Set if the certificate cannot be used: connections that need it are not opened without it. */
  readonly refusal: Refusal | undefined
}

/**
 * The client certificate of a Gateway for TLS to backends that have no certificate of their own (Gateway API, GatewayBackendTLS). The control
 * plane sets it; no policy has this field.
 */
export const clientCertificate: SettingDefinition<ClientCertificateSpec, ClientCertificateSetting | undefined> = {
  kind: 'setting',
  section: 'backend',
  field: 'clientCertificate',
  writtenAs: 'client certificate of the Gateway for TLS to backends',
  merge: 'replace',
  compile([source], context) {
    if (source === undefined) return undefined
    const { name, namespace } = source.spec
    const pair =
      source.broken ?? readKeyPair(context.secret(source, name, namespace), { namespace, name }, context.tlsMaterial)
    if (typeof pair !== 'string') return { pair, refusal: undefined }
    return { pair: undefined, refusal: reject('backend-invalid', { detail: `client certificate: ${pair}` }) }
  },
}
