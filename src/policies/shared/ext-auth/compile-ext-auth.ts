import { parseByteSize } from '#base/byte-size.ts'
import { parseDuration } from '#base/duration.ts'
import type { Expression } from '#exchange/expression.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import { askGrpc } from './ask-grpc.ts'
import { askHttp, isRequestPath } from './ask-http.ts'
import type { ExtAuth } from './authorize.ts'
import type { ExtAuthSpec } from './ext-auth.ts'
import { type ExtAuthRun, Site } from './site.ts'
import type { CacheSettings } from './verdict-cache.ts'

/** Compiles external authorization by one server. @param path of the policy in its source */
export function compileExtAuth(
  source: PolicySource<unknown>,
  path: string,
  spec: ExtAuthSpec,
  context: CompileContext,
): ExtAuthRun {
  const site = new Site(source, path, context)
  const { forwardBody, grpc, http } = spec
  if (spec.failureMode === 'FailOpen') {
    const message =
      'requests pass without authorization while the server fails, and a client may be able to overload it'
    context.report(source, site.pathOf('.failureMode'), { severity: 'advice', code: 'fails-open', message })
  }
  return site.run({
    backend: context.calledBackend(source, spec.backendRef),
    ...(grpc === undefined ? compileHttp(site, http!) : compileGrpc(site, grpc)),
    failsOpen: spec.failureMode === 'FailOpen',
    body: forwardBody && { maxBytes: parseByteSize(forwardBody.maxSize)!, field: 'extAuth.forwardBody.maxSize' },
    cache: spec.cache === undefined ? undefined : compileCache(site, spec),
  })
}

type Asks = Pick<ExtAuth, 'prepare' | 'ownedHeaders'>

function compileGrpc(site: Site, { contextExtensions = {}, requestMetadata }: NonNullable<ExtAuthSpec['grpc']>): Asks {
  site.reads('.grpc', { path: true, allFields: true })
  const prepare = askGrpc({
    sentHeaders: 'all',
    contextExtensions: new Map(Object.entries(contextExtensions)),
    requestMetadata: requestMetadata && site.expressions('.grpc.requestMetadata', requestMetadata),
  })
  return { prepare, ownedHeaders: [] }
}

function compileHttp(site: Site, http: NonNullable<ExtAuthSpec['http']>): Asks {
  const { path, redirect, allowedRequestHeaders = ['authorization'], allowedResponseHeaders = [] } = http
  if (path === undefined) site.reads('.http', { path: true, allFields: false })
  const sentHeaders = site.headers('.http.allowedRequestHeaders', allowedRequestHeaders)
  const ownedHeaders = site.headers('.http.allowedResponseHeaders', allowedResponseHeaders)
  const added = site.expressions('.http.addRequestHeaders', http.addRequestHeaders ?? {})
  const prepare = askHttp({
    path: path === undefined ? { prefix: '' } : compilePath(site, path),
    redirect: redirect === undefined ? undefined : site.expression('.http.redirect', redirect),
    forwardsHost: false,
    sentHeaders,
    addedHeaders: added.flatMap(([name, value]) =>
      site.header(`.http.addRequestHeaders[${name}]`, name).map((lowerName) => [lowerName, value] as const),
    ),
    copiedHeaders: ownedHeaders,
    metadata: site.expressions('.http.responseMetadata', http.responseMetadata ?? {}, 'response'),
  })
  return { prepare, ownedHeaders }
}

function compilePath(site: Site, text: string): Expression {
  const path = site.expression('.http.path', text)
  const { constantText } = path
  if (constantText === undefined || isRequestPath(constantText)) return path
  const message = `all requests are refused, because ${JSON.stringify(constantText)} is not a path: it must begin with a slash, without spaces and control characters`
  site.context.report(site.source, site.pathOf('.http.path'), { severity: 'error', code: 'path-invalid', message })
  return path
}

function compileCache(site: Site, spec: ExtAuthSpec): CacheSettings {
  const { key, ttl, maxEntries } = spec.cache!
  const { source, context } = site
  const keys = key.map((text, index) => site.optionalExpression(`.cache.key[${index}]`, text, 'request', 'key'))
  const isShared = keys.every(({ broken, references }) => !broken && ![...references].some(tellsCallersApart))
  if (isShared) {
    const message =
      'the key does not distinguish callers, so the decision for one of them applies to all; add the values that the server uses, such as request.headers["authorization"], jwt.sub or source.address'
    context.report(source, site.pathOf('.cache.key'), { severity: 'warning', code: 'cache-key-shared', message })
  }
  return {
    cache: context.verdictCache(source, site.pathOf(''), JSON.stringify(spec), maxEntries),
    key: keys,
    ttl: parseDuration(ttl) ?? site.optionalExpression('.cache.ttl', ttl),
  }
}

/** Parts of a request that are the same for all callers of one path. */
const SAME_FOR_ALL: ReadonlySet<string> = new Set([
  'request.path',
  'request.method',
  'request.host',
  'request.scheme',
  'request.version',
])

function tellsCallersApart(reference: string): boolean {
  return !SAME_FOR_ALL.has(reference)
}
