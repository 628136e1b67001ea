import { type Refusal, reject } from '#exchange/outcome.ts'
import { Head } from '#net/http/head.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import {
  authorizationHeader,
  compileWritableLocation,
  writeCredential,
} from '../../shared/authentication/credential-location.ts'
import { credentialOf } from './compile.ts'
import type { AuthForm } from './schema.ts'

/**
 * The credential of a proxy server as the value of `Proxy-Authorization`: that which `backend.auth` of its backend would write to its header
 * (decision A-105). Every connection has the same, so only a constant credential can be used.
 */
export function compileProxyAuthorization(source: PolicySource<AuthForm>, context: CompileContext): string | Refusal {
  const { key, secretRef, location: where } = source.spec
  const location = where === undefined ? authorizationHeader('Bearer') : compileWritableLocation(where)
  if ((key === undefined && secretRef === undefined) || location.kind !== 'header') {
    const message = 'a proxy server gets only key or secretRef, in a header; connections through it are refused'
    context.report(source, '', { severity: 'error', code: 'credential-invalid', message })
    return reject('backend-auth-failed', {
      detail: 'backend.tunnel: the credential of the proxy server is not sent in a header',
    })
  }
  const credential = credentialOf(source, location, context)
  if (typeof credential !== 'string') return credential
  const head = Head.request('CONNECT', '/')
  writeCredential(location, head, credential)
  return head.get(location.name) ?? credential
}
