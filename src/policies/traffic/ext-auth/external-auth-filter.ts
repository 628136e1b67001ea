import { foldName } from '#net/http/same-name.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import { askGrpc } from '../../shared/ext-auth/ask-grpc.ts'
import { askHttp } from '../../shared/ext-auth/ask-http.ts'
import type { Prepare } from '../../shared/ext-auth/question.ts'
import { type ExtAuthRun, Site } from '../../shared/ext-auth/site.ts'

/** The platform's HTTPExternalAuthFilter, with its reference resolved. */
export interface ExternalAuthFilter {
  readonly protocol: 'HTTP' | 'GRPC'
  /** Key of the backend; undefined: the reference cannot be used. */
  readonly backend?: string
  readonly grpc?: { readonly allowedHeaders?: readonly string[] }
  readonly http?: HttpAuth
  readonly forwardBody?: { readonly maxSize: number }
}

interface HttpAuth {
  readonly path?: string
  readonly allowedHeaders?: readonly string[]
  readonly allowedResponseHeaders?: readonly string[]
}

/** The filter sets `extAuth` of its rule. It always fails closed (Gateway API, HTTPRouteFilter). */
export function compileExternalAuthFilter(
  source: PolicySource<ExternalAuthFilter>,
  context: CompileContext,
): ExtAuthRun {
  const { protocol, backend, grpc, http, forwardBody } = source.spec
  const site = new Site(source, '', context)
  const maxBytes = forwardBody?.maxSize ?? 0
  return site.run({
    backend,
    prepare: protocol === 'GRPC' ? prepareGrpc(site, grpc?.allowedHeaders) : prepareHttp(site, http),
    failsOpen: false,
    ownedHeaders: [],
    body: maxBytes === 0 ? undefined : { maxBytes, field: 'externalAuth.forwardBody.maxSize' },
    cache: undefined,
  })
}

/** Of every question. */
const PARTS_OF_HEAD = [':method', ':authority', ':path', ':scheme', 'host', 'content-length']

function prepareGrpc(site: Site, allowed: readonly string[] = []): Prepare {
  const headers = site.headers('.grpc.allowedHeaders', allowed, PARTS_OF_HEAD)
  const isLimited = allowed.length > 0
  site.reads('.grpc', { path: true, allFields: !isLimited })
  return askGrpc({
    sentHeaders: isLimited ? new Set(headers.map(foldName)) : 'all',
    contextExtensions: undefined,
    requestMetadata: undefined,
  })
}

function prepareHttp(
  site: Site,
  { path = '', allowedHeaders = [], allowedResponseHeaders = [] }: HttpAuth = {},
): Prepare {
  const sent = site.headers('.http.allowedHeaders', allowedHeaders, PARTS_OF_HEAD)
  const copied = site.headers('.http.allowedResponseHeaders', allowedResponseHeaders)
  const copiesAll = allowedResponseHeaders.length === 0
  site.reads('.http', { path: true, allFields: copiesAll })
  return askHttp({
    path: { prefix: prefixOf(path) },
    redirect: undefined,
    forwardsHost: true,
    sentHeaders: [...new Set(['authorization', ...sent.filter((name) => !PARTS_OF_HEAD.includes(name))])],
    addedHeaders: [],
    copiedHeaders: copiesAll ? 'all' : copied,
    metadata: [],
  })
}

/** With a slash before it and none after it, because a path follows. */
function prefixOf(path: string): string {
  const trimmed = path.replace(/^\/+|\/+$/g, '')
  return trimmed === '' ? '' : `/${trimmed}`
}
