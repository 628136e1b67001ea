import type { CompileContext, PolicySource, RequestRun } from '../../policy.ts'
import { parseOrigin } from '../../shared/url/web-origin.ts'
import { checkCsrf, originKey } from './run.ts'
import type { CsrfSpec } from './schema.ts'

export function compileCsrf(sources: readonly PolicySource<CsrfSpec>[], context: CompileContext): RequestRun {
  const source = sources[0]!
  const additional = new Set<string>()
  for (const [index, text] of (source.spec.additionalOrigins ?? []).entries()) {
    const origin = parseOrigin(text)
    if (origin !== undefined) additional.add(originKey(origin))
    else {
      const message = 'must be <scheme>://<host>(:<port>); this entry allows no origin'
      context.report(source, `.additionalOrigins[${index}]`, { severity: 'error', code: 'invalid-origin', message })
    }
  }
  return {
    request: (exchange) => checkCsrf(additional, exchange),
    fields: { request: ['origin', 'sec-fetch-site'] },
  }
}
