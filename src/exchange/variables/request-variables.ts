import { Duration, Timestamp, type Variable } from '#cel/index.ts'
import { matchedAuthority } from '#net/http/authority-form.ts'
import { matchedPathOf, matchedTarget } from '#net/http/path-form.ts'
import type { Exchange } from '../exchange.ts'
import type { KnownBody } from '../known-body.ts'
import { readGrpcStatus } from '../read-grpc-status.ts'
import type { Declared } from './declared.ts'
import { headerVariable } from './header-view.ts'
import { hostMisfit, methodMisfit, pathMisfit, schemeMisfit, targetMisfit } from './misfits.ts'

/** The request with the changes of earlier policies; path and host are in their matched form (decisions ). */
export const REQUEST: readonly Declared[] = [
  { path: 'request.method', type: 'string', always: true, read: ({ request }) => request.method, misfit: methodMisfit },
  { path: 'request.uri', type: 'string', always: true, read: uriOf },
  {
    path: 'request.host',
    type: 'wrapper(string)',
    read: ({ request }) => matchedAuthority(request.authority) || null,
    misfit: hostMisfit,
  },
  { path: 'request.scheme', type: 'string', always: true, read: ({ scheme }) => scheme, misfit: schemeMisfit },
  {
    path: 'request.path',
    type: 'string',
    always: true,
    read: ({ request }) => matchedPathOf(request.target),
    misfit: pathMisfit,
  },
  {
    path: 'request.pathAndQuery',
    type: 'string',
    always: true,
    read: ({ request }) => matchedTarget(request.target),
    misfit: targetMisfit,
  },
  { path: 'request.version', type: 'string', always: true, read: ({ version }) => versionText(version) },
  headerVariable('request.headers', 'request', ({ request }) => request, true),
  { path: 'request.startTime', type: 'timestamp', always: true, read: startTime },
]

/** Variables that contain the path. */
export const PATH_VARIABLES = ['request.uri', 'request.path', 'request.pathAndQuery'] as const

/**
 * Bodies, which are buffered because compilation found expressions that read them (specification 2, 2.1). For decisions the whole body, or
 * null above the limit; for log and metrics as much as was recorded, or null (decision A-49).
 */
export const REQUEST_BODY: readonly Declared[] = [
  bodyVariable('request.body', (x) => x.newRequestBody ?? contentOf(x.requestBody)),
  bodyVariable('request.bodyPrefix', (x) => x.newRequestBody ?? x.requestBody.start),
]

export const RESPONSE_BODY: readonly Declared[] = [
  bodyVariable('response.body', (x) => x.newResponseBody ?? contentOf(x.responseBody)),
  bodyVariable('response.bodyPrefix', (x) => x.newResponseBody ?? x.responseBody.start),
]

function bodyVariable(path: string, read: Variable<Exchange>['read']): Declared {
  return { path, type: 'wrapper(bytes)', always: true, read }
}

function contentOf(body: KnownBody): Uint8Array | null | undefined {
  if (body.kind === 'unread') return undefined
  return (body.kind === 'recorded' ? body.start : body.whole) ?? null
}

/** The response with the changes of earlier policies. */
export const RESPONSE: readonly Declared[] = [
  { path: 'response.code', type: 'int', read: ({ response }) => response?.status },
  { path: 'response.grpcStatus', type: 'int', read: readGrpcStatus },
  headerVariable('response.headers', 'response', ({ response }) => response, false),
]

/** Durations of gateway and backend, as far as the request has come. */
export const DURATIONS: readonly Declared[] = [
  {
    path: 'proxy.requestProcessingDuration',
    type: 'duration',
    read: (x) => span(x.startMonotonicMs, x.sentMonotonicMs),
  },
  { path: 'proxy.upstreamDuration', type: 'duration', read: (x) => span(x.sentMonotonicMs, x.answeredMonotonicMs) },
]

/** Known only after the end of the request. */
export const ENDED: readonly Declared[] = [
  { path: 'request.endTime', type: 'timestamp', always: true, read: ({ context }) => Timestamp.fromMs(context.now()) },
  {
    path: 'proxy.responseProcessingDuration',
    type: 'duration',
    read: (x) => span(x.answeredMonotonicMs, x.context.monotonic()),
  },
]

function uriOf({ scheme, request }: Exchange): string {
  return `${scheme}://${matchedAuthority(request.authority)}${matchedTarget(request.target)}`
}

function versionText(version: Exchange['version']): string {
  return `HTTP/${version}`
}

/** Derived from the monotonic start, because the wall clock is not read for every request. */
function startTime({ context, startMonotonicMs }: Exchange): Timestamp {
  return Timestamp.fromMs(context.now() - (context.monotonic() - startMonotonicMs))
}

/** A duration between monotonic times in milliseconds; absent if one of them is 0 (not reached). */
function span(fromMs: number, toMs: number): Duration | undefined {
  return fromMs === 0 || toMs === 0 ? undefined : Duration.fromMs(toMs - fromMs)
}
