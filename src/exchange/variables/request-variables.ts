import { clock } from '#base/clock.ts'
import { Timestamp, type Variable } from '#cel/index.ts'
import type { Exchange } from '../exchange.ts'
import { HeaderView, readSingleHeader } from './header-view.ts'

type Variables = readonly Variable<Exchange>[]

/** The request as it is now, after what earlier policies changed. */
export const REQUEST: Variables = [
  { path: 'request.method', type: 'string', read: ({ request }) => request.method },
  { path: 'request.uri', type: 'string', read: (x) => `${x.scheme}://${x.request.authority}${x.request.target}` },
  { path: 'request.host', type: 'wrapper(string)', read: ({ request }) => request.authority || null },
  { path: 'request.scheme', type: 'string', read: ({ scheme }) => scheme },
  { path: 'request.path', type: 'string', read: ({ request }) => pathOf(request.target) },
  { path: 'request.pathAndQuery', type: 'string', read: ({ request }) => request.target },
  { path: 'request.version', type: 'string', read: ({ version }) => (version === '2' ? 'HTTP/2' : `HTTP/${version}`) },
  {
    path: 'request.headers',
    type: 'headers',
    read: ({ request }) => new HeaderView(request),
    index: ({ request }, name) => readSingleHeader(request, name.toLowerCase()),
    prepareIndex: (name) => {
      const lower = name.toLowerCase()
      return ({ request }) => readSingleHeader(request, lower)
    },
  },
  { path: 'request.body', type: 'dyn', read: (x) => x.newRequestBody ?? x.requestBody },
  { path: 'request.bodyPrefix', type: 'dyn', read: (x) => x.newRequestBody ?? x.requestBody ?? undefined },
  { path: 'request.startTime', type: 'timestamp', read: startTime },
]

/** The response as it is now. */
export const RESPONSE: Variables = [
  { path: 'response.code', type: 'int', read: ({ response }) => response?.status },
  { path: 'response.grpcStatus', type: 'int', read: ({ response }) => grpcStatus(response?.get('grpc-status')) },
  {
    path: 'response.headers',
    type: 'headers',
    read: ({ response }) => (response === undefined ? undefined : new HeaderView(response)),
    index: ({ response }, name) =>
      response === undefined ? undefined : readSingleHeader(response, name.toLowerCase()),
    prepareIndex: (name) => {
      const lower = name.toLowerCase()
      return ({ response }) => (response === undefined ? undefined : readSingleHeader(response, lower))
    },
  },
  { path: 'response.body', type: 'dyn', read: (x) => x.newResponseBody ?? x.responseBody },
  { path: 'response.bodyPrefix', type: 'dyn', read: (x) => x.newResponseBody ?? x.responseBody ?? undefined },
]

/** Known only when the request has ended. */
export const ENDED: Variables = [
  { path: 'request.endTime', type: 'timestamp', read: () => Timestamp.fromMs(clock.now()) },
]

function pathOf(target: string): string {
  const mark = target.indexOf('?')
  return mark < 0 ? target : target.slice(0, mark)
}

/** Only the monotonic start is taken for every request; the wall clock follows from it. */
function startTime({ startMonotonicMs }: Exchange): Timestamp {
  return Timestamp.fromMs(clock.now() - (clock.monotonic() - startMonotonicMs))
}

function grpcStatus(text: string | undefined): number | undefined {
  return text === undefined || !/^\d+$/.test(text) ? undefined : Number(text)
}
