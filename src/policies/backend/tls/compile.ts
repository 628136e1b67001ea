import { missingKey } from '#base/missing-key.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import { compileGroups } from '../../shared/connection/compile-groups.ts'
import { isPem, readKeyPair } from '../../shared/connection/key-pair.ts'
import type { BackendTlsSpec } from './schema.ts'

/** TLS settings towards a backend, with resolved PEM material. */
export interface BackendTlsSetting {
  /** Undefined: from the hostname of the destination. */
  readonly serverName: string | undefined
  /** PEM; undefined: the CAs of the system. */
  readonly ca: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
  readonly verify: 'full' | 'chain-only' | 'none'
  /** The certificate must have one of these names; undefined: that of the destination. */
  readonly subjectAltNames: readonly string[] | undefined
  /** Undefined: determined by the HTTP version. */
  readonly alpn: readonly string[] | undefined
  /** Key exchange groups in the list format of OpenSSL; undefined: the default list of OpenSSL. */
  readonly groups: string | undefined
  /** Set if the destination cannot be used as configured: settings are never weakened (decision A-108). */
  readonly refusal: Refusal | undefined
}

type Source = PolicySource<BackendTlsSpec>

const VERIFY = { All: 'none', Hostname: 'chain-only' } as const

/** @returns undefined without the policy: no TLS */
export function compileBackendTls(sources: readonly Source[], context: CompileContext): BackendTlsSetting | undefined {
  const source = sources[0]
  if (source === undefined) return undefined
  const { spec } = source
  const client = clientCertificate(source, context)
  const trust = authorities(source, context)
  return {
    serverName: spec.sni,
    ca: trust.ca ?? client.ca,
    cert: client.cert,
    key: client.key,
    verify: spec.insecureSkipVerify === undefined ? 'full' : VERIFY[spec.insecureSkipVerify],
    subjectAltNames: spec.verifySubjectAltNames,
    alpn: spec.alpnProtocols,
    groups: compileGroups(spec.keyExchangeGroups),
    refusal: refusalOf(source.broken ?? client.problem ?? trust.problem),
  }
}

function refusalOf(problem: string | undefined): Refusal | undefined {
  return problem === undefined ? undefined : reject('backend-invalid', { detail: `TLS to the backend: ${problem}` })
}

interface ClientCertificate {
  readonly cert?: string
  readonly key?: string
  readonly ca?: string
  readonly problem?: string
}

function clientCertificate(source: Source, context: CompileContext): ClientCertificate {
  const name = source.spec.mtlsCertificateRef?.[0]?.name
  if (name === undefined) return {}
  const secret = context.secret(source, name)
  const pair = readKeyPair(secret, { namespace: source.origin.namespace, name }, context.tlsMaterial)
  if (typeof pair === 'string') return failed(source, context, '.mtlsCertificateRef[0]', pair)
  const ca = secret?.data['ca.cert'] ?? secret?.data['ca.crt']
  if (ca === undefined || source.spec.caCertificateRefs?.[0] !== undefined) return pair
  if (!isPem(ca))
    return failed(source, context, '.mtlsCertificateRef[0]', `ca.cert of Secret ${name} is not in PEM format`)
  const caFault = context.tlsMaterial.authoritiesFault(ca)
  if (caFault === undefined) return { ...pair, ca }
  return failed(source, context, '.mtlsCertificateRef[0]', `ca.cert of Secret ${name}: ${caFault}`)
}

/** The ConfigMaps of all references together. */
function authorities(source: Source, context: CompileContext): { readonly ca?: string; readonly problem?: string } {
  const texts: string[] = []
  for (const [index, { name }] of (source.spec.caCertificateRefs ?? []).entries()) {
    const path = `.caCertificateRefs[${index}]`
    const data = context.configMap(source, name)?.data
    const missing = missingKey({ kind: 'ConfigMap', namespace: source.origin.namespace, name }, data, ['ca.crt'])
    if (missing !== undefined) return failed(source, context, path, missing)
    const ca = data?.['ca.crt']
    if (!isPem(ca)) return failed(source, context, path, `ConfigMap ${name} has no PEM text in ca.crt`)
    const fault = context.tlsMaterial.authoritiesFault(ca)
    if (fault !== undefined) return failed(source, context, path, `ca.crt of ConfigMap ${name}: ${fault}`)
    texts.push(ca)
  }
  return texts.length === 0 ? {} : { ca: texts.join('\n') }
}

function failed(source: Source, context: CompileContext, path: string, problem: string): { readonly problem: string } {
  const message = `${problem}; requests to the backend are refused`
  context.report(source, path, { severity: 'error', code: 'certificate-missing', message })
  return { problem }
}
