import { reject } from '#exchange/outcome.ts'
import { isAuthority } from '#net/http/field-syntax.ts'
import type { CompileContext, PolicySource, RequestRun } from '../../policy.ts'
import { compilePathModifier, type PathModifierSpec } from '../../shared/url/path-modifier.ts'
import { redirect } from './run.ts'

/** The platform's HTTPRequestRedirectFilter. */
export interface RequestRedirectSpec {
  readonly scheme?: 'http' | 'https'
  readonly hostname?: string
  readonly path?: PathModifierSpec
  readonly port?: number
  readonly statusCode?: number
}

const FOUND = 302

export function compileRequestRedirect(
  sources: readonly PolicySource<RequestRedirectSpec>[],
  context: CompileContext,
): RequestRun {
  const source = sources[0]!
  const { scheme, hostname, path, port, statusCode } = source.spec
  if (hostname !== undefined && !isAuthority(hostname)) {
    const message = 'must be a hostname; requests are refused'
    context.report(source, '.hostname', { severity: 'error', code: 'host-invalid', message })
    return { request: () => reject('filter-failed', { detail: 'requestRedirect has no valid hostname' }) }
  }
  const modifyPath = path === undefined ? undefined : compilePathModifier(source, path, context)
  const plan = { scheme, hostname, modifyPath, port, status: statusCode ?? FOUND }
  return { request: (exchange) => redirect(plan, exchange) }
}
