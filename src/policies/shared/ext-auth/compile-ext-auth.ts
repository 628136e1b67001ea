import { parseByteSize } from '#base/byte-size.ts'
import { parseDuration } from '#base/duration.ts'
import type { Expression, ExpressionEnvironment } from '#exchange/expression.ts'
import { reject } from '#exchange/outcome.ts'
import type { Step } from '#exchange/step.ts'
import { isFieldName } from '#net/http/field-syntax.ts'
import type { CompileContext, PolicyRun, PolicySource } from '../../policy.ts'
import { readsRequestBody } from '../body-use.ts'
import { isServerField } from '../fields/server-fields.ts'
import { askGrpc } from './ask-grpc.ts'
import { askHttp } from './ask-http.ts'
import { authorize, type ExtAuth } from './authorize.ts'
import type { ExtAuthSpec } from './ext-auth.ts'
import type { Prepare } from './question.ts'
import type { CacheSettings } from './verdict-cache.ts'

/** A compiled policy. */
export type ExtAuthRun = PolicyRun & { readonly request: Step }

/** The field in an object, and the expressions that it has compiled. */
interface Site {
  readonly source: PolicySource<unknown>
  readonly path: string
  readonly context: CompileContext
  readonly expressions: Expression[]
  /** A header name that cannot work. */
  invalid: string | undefined
}

/** Compiles external authorization by one server. @param path of the policy in its source */
export function compileExtAuth(
  source: PolicySource<unknown>,
  path: string,
  spec: ExtAuthSpec,
  context: CompileContext,
): ExtAuthRun {
  const site: Site = { source, path, context, expressions: [], invalid: undefined }
  const backend = context.calledBackend(source, spec.backendRef)
  const failsOpen = spec.failureMode === 'FailOpen'
  const { sent, copied, prepare } = compileQuestion(site, backend ?? '', spec)
  const extAuth: ExtAuth = {
    backend: backend ?? '',
    prepare,
    failsOpen,
    ownedHeaders: copied,
    maxBodyBytes: spec.forwardBody === undefined ? undefined : parseByteSize(spec.forwardBody.maxSize)!,
    cache: spec.cache === undefined ? undefined : compileCache(site, spec),
  }
  return {
    request: site.invalid === undefined ? authorize(extAuth) : refuseInvalid(site.invalid),
    readsRequestBody: readsRequestBody(site.expressions),
    fields: { request: [...sent, ...copied] },
  }
}

interface CompiledQuestion {
  readonly prepare: Prepare
  /** Names of headers that the server sees, besides those of expressions. */
  readonly sent: readonly string[]
  /** Names of headers that only the server may set. */
  readonly copied: readonly string[]
}

function compileQuestion(site: Site, backend: string, { grpc, http }: ExtAuthSpec): CompiledQuestion {
  const { context, source, path } = site
  if (grpc !== undefined) {
    context.reads(source, `${path}.grpc`, { path: true, allFields: true })
    const { contextExtensions = {}, requestMetadata } = grpc
    const settings = {
      contextExtensions: new Map(Object.entries(contextExtensions)),
      requestMetadata: requestMetadata && expressionsOf(site, '.grpc.requestMetadata', requestMetadata),
    }
    return { prepare: askGrpc(backend, settings), sent: [], copied: [] }
  }
  const { path: target, redirect, allowedRequestHeaders = ['authorization'], addRequestHeaders = {} } = http!
  const { allowedResponseHeaders = [], responseMetadata = {} } = http!
  if (target === undefined) context.reads(source, `${path}.http`, { path: true, allFields: false })
  const sent = headerNames(site, '.http.allowedRequestHeaders', allowedRequestHeaders)
  const copied = headerNames(site, '.http.allowedResponseHeaders', allowedResponseHeaders)
  const added = expressionsOf(site, '.http.addRequestHeaders', addRequestHeaders)
  const settings = {
    path: target === undefined ? undefined : expressionAt(site, '.http.path', target),
    redirect: redirect === undefined ? undefined : expressionAt(site, '.http.redirect', redirect),
    sentHeaders: sent,
    addedHeaders: added.flatMap(([name, value]) => {
      const names = headerNames(site, '.http.addRequestHeaders', [name], (it) => `[${it}]`)
      return names.map((lowerName) => [lowerName, value] as const)
    }),
    copiedHeaders: copied,
    metadata: expressionsOf(site, '.http.responseMetadata', responseMetadata, 'response'),
  }
  return { prepare: askHttp(backend, settings), sent, copied }
}

function compileCache(site: Site, spec: ExtAuthSpec): CacheSettings {
  const { key, ttl, maxEntries } = spec.cache!
  const { source, path, context } = site
  return {
    cache: context.verdictCache(source, path, JSON.stringify(spec), maxEntries),
    key: key.map((text, index) => expressionAt(site, `.cache.key[${index}]`, text)),
    ttl: parseDuration(ttl) ?? expressionAt(site, '.cache.ttl', ttl),
  }
}

function expressionAt(site: Site, path: string, text: string, environment: ExpressionEnvironment = 'request') {
  const expression = site.context.expression(site.source, `${site.path}${path}`, text, environment)
  site.expressions.push(expression)
  return expression
}

function expressionsOf(
  site: Site,
  path: string,
  written: Readonly<Record<string, string>>,
  environment?: ExpressionEnvironment,
): (readonly [name: string, value: Expression])[] {
  return Object.entries(written).map(([name, text]) => [
    name,
    expressionAt(site, `${path}[${name}]`, text, environment),
  ])
}

/** Lower-case names without those that have no effect. A misspelt name refuses all requests: it may protect a header. */
function headerNames(
  site: Site,
  path: string,
  names: readonly string[],
  at: (name: string, index: number) => string = (_, index) => `[${index}]`,
): string[] {
  return names.flatMap((name, index) => {
    const lowerName = name.toLowerCase()
    if (isServerField(lowerName)) return [lowerName]
    const where = `${site.path}${path}${at(name, index)}`
    const shown = JSON.stringify(name)
    if (isFieldName(name)) {
      const message = `has no effect: authorization servers neither see nor set ${shown}`
      site.context.report(site.source, where, { severity: 'warning', code: 'no-effect', message })
    } else {
      site.invalid ??= `${where}: ${shown} is not a valid header name`
      const message = `${shown} is not a valid header name; requests are refused`
      site.context.report(site.source, where, { severity: 'error', code: 'header-invalid', message })
    }
    return []
  })
}

function refuseInvalid(detail: string): Step {
  const refusal = reject('ext-auth-denied', { detail })
  return () => refusal
}
