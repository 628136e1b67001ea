import type { FindingCode } from '#base/findings.ts'
import type { CompileContext, PolicyRun, PolicySource } from '../../policy.ts'
import { type OriginPattern, parseOriginPattern } from './origin-pattern.ts'
import { type CorsPlan, runCors, varyByOrigin } from './run.ts'
import type { CorsSpec } from './schema.ts'

type Source = PolicySource<CorsSpec>

const MAX_AGE_SECONDS = 5

export function compileCors(sources: readonly Source[], context: CompileContext): PolicyRun {
  const plan = planCors(sources[0]!, context)
  return {
    request: (exchange) => runCors(plan, exchange),
    response: varyByOrigin,
    answersPreflights: true,
    fields: { request: ['origin', 'access-control-request-method', 'access-control-request-headers'] },
  }
}

function planCors(source: Source, context: CompileContext): CorsPlan {
  const { spec } = source
  const allowsAll = spec.allowOrigins?.includes('*') ?? false
  const credentials = spec.allowCredentials ?? false
  if (spec.allowOrigins === undefined || spec.allowOrigins.length === 0) {
    warn(
      source,
      context,
      '.allowOrigins',
      'cors-no-origin',
      'no origin is allowed, so the policy permits no cross-origin request; add an origin',
    )
  }
  if (allowsAll && credentials) {
    const message =
      'every origin can send requests with credentials and read the responses; list the trusted origins instead'
    warn(source, context, '.allowOrigins', 'cors-any-origin-with-credentials', message)
  }
  return {
    allowsAll,
    origins: patternsOf(source, context),
    methods: listOrAny(spec.allowMethods),
    headers: listOrAny(spec.allowHeaders),
    exposed: listOrAny(spec.exposeHeaders),
    credentials,
    maxAge: String(spec.maxAge ?? MAX_AGE_SECONDS),
  }
}

function patternsOf(source: Source, context: CompileContext): readonly OriginPattern[] {
  return (source.spec.allowOrigins ?? []).flatMap((text, index) => {
    if (text === '*') return []
    const pattern = parseOriginPattern(text)
    if (pattern !== undefined) return [pattern]
    const message = 'must be "*" or <scheme>://<host>(:<port>) with scheme http or https; this entry allows no origin'
    context.report(source, `.allowOrigins[${index}]`, { severity: 'error', code: 'invalid-origin', message })
    return []
  })
}

function warn(source: Source, context: CompileContext, path: string, code: FindingCode, message: string): void {
  context.report(source, path, { severity: 'warning', code, message })
}

function listOrAny(list: readonly string[] | undefined): string | '*' | undefined {
  if (list === undefined || list.length === 0) return undefined
  return list.includes('*') ? '*' : list.join(', ')
}
