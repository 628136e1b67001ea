import { reject } from '#exchange/outcome.ts'
import { isAuthority } from '#net/http/field-syntax.ts'
import type { CompileContext, PolicySource, RequestRun } from '../../policy.ts'
import { compilePathModifier, type PathModifierSpec } from '../../shared/url/path-modifier.ts'
import { rewriteUrl } from './run.ts'

/** The platform's HTTPURLRewriteFilter. */
export interface UrlRewriteSpec {
  readonly hostname?: string
  readonly path?: PathModifierSpec
}

export function compileUrlRewrite(
  sources: readonly PolicySource<UrlRewriteSpec>[],
  context: CompileContext,
): RequestRun {
  const source = sources[0]!
  const { hostname, path } = source.spec
  if (hostname !== undefined && !isAuthority(hostname)) {
    const message = 'must be a hostname; requests are refused'
    context.report(source, '.hostname', { severity: 'error', code: 'host-invalid', message })
    return { request: () => reject('filter-failed', { detail: 'urlRewrite has no valid hostname' }) }
  }
  const modifyPath = path === undefined ? undefined : compilePathModifier(source, path, context)
  return { request: (exchange) => rewriteUrl({ hostname, modifyPath }, exchange) }
}
