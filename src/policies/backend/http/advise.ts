import type { CompileContext, PolicySource } from '../../policy.ts'
import type { BackendHttpSpec } from './schema.ts'

const PROTOCOL_OF = { HTTP1: 'http/1.1', HTTP2: 'h2' } as const

/** `tls.alpnProtocols` overrides the version that `http.version` asks for (decision A-106). */
export function adviseVersion(
  source: PolicySource<BackendHttpSpec>,
  tls: { readonly alpn: readonly string[] | undefined } | undefined,
  context: CompileContext,
): void {
  const { version } = source.spec
  if (version === undefined || tls?.alpn === undefined) return
  const wanted = PROTOCOL_OF[version]
  if (tls.alpn.includes(wanted)) return
  const message = `${version} is never used: tls.alpnProtocols does not offer ${wanted} and takes precedence; add ${wanted} there, or remove one of the two`
  context.report(source, '.version', { severity: 'error', code: 'inconsistent', message })
}
