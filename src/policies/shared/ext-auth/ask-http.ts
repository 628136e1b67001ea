import { heapOfJson } from '#base/heap-of-json.ts'
import type { JsonObject } from '#base/json.ts'
import { type Call, CallError, type CallRequest, type CallResponse } from '#exchange/call.ts'
import { readsCredentials } from '#exchange/credential-reads.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Expression } from '#exchange/expression.ts'
import { FailedCall, failureOf } from '#exchange/failed-call.ts'
import { wholeBody } from '#exchange/known-body.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { WrittenCredential } from '#exchange/trace.ts'
import { isTarget } from '#net/http/field-syntax.ts'
import { Head } from '#net/http/head.ts'
import { foldName, isSameName } from '#net/http/same-name.ts'
import { CALLOUT_DEADLINE_MS } from '../callout.ts'
import { fieldText } from '../fields/field-text.ts'
import type { HeaderEdit } from '../fields/header-edits.ts'
import { isServerField } from '../fields/server-fields.ts'
import { joinedSpellings } from '../fields/spellings.ts'
import type { Answered, Prepare, Question } from './question.ts'
import { NO_EDITS, type Verdict } from './verdict.ts'

/** Of an answer. */
const MAX_BODY_BYTES = 1024 * 1024

export interface HttpSettings {
  /** A prefix precedes the path of the request. */
  readonly path: Expression | { readonly prefix: string }
  /** Where a client goes that has to sign in first. */
  readonly redirect: Expression | undefined
  /** The server sees the host of the request, not its own. */
  readonly forwardsHost: boolean
  /** Lower-case names of headers of the request. */
  readonly sentHeaders: readonly string[]
  readonly addedHeaders: readonly (readonly [lowerName: string, value: Expression])[]
  /** Lower-case names of headers of the answer for the request to the backend. `all`: without those that describe the answer. */
  readonly copiedHeaders: readonly string[] | 'all'
  readonly metadata: readonly (readonly [name: string, value: Expression])[]
}

/** Asks with an HTTP request: only status 200 allows (specification 2, 2.2.6). */
export function askHttp(settings: HttpSettings): Prepare {
  return (backend, exchange, body) => {
    const path = targetOf(settings, exchange)
    if (typeof path !== 'string') return path
    const { method, authority } = exchange.request
    const headers = questionHeaders(settings, exchange, body)
    const host = settings.forwardsHost ? { host: authority } : undefined
    return questionOf(backend, settings, { method, path, headers, body, ...host })
  }
}

/** Whether an authorization request can have this path, with or without a query. */
export function isRequestPath(text: string): boolean {
  return text.startsWith('/') && isTarget(text)
}

function targetOf({ path }: HttpSettings, exchange: Exchange): string | Refusal {
  const written = 'prefix' in path ? exchange.request.target : path.text(exchange)
  if (written !== undefined && isRequestPath(written)) return 'prefix' in path ? path.prefix + written : written
  const why = 'prefix' in path ? 'the target of the request is not a path' : path.whyFailed(exchange)
  return reject('ext-auth-denied', { detail: why ?? 'the result of path is not a valid path' })
}

type HttpRequest = Pick<CallRequest, 'method' | 'path' | 'headers' | 'host'> & { readonly body: Uint8Array | undefined }

function questionOf(backend: string, settings: HttpSettings, request: HttpRequest): Question {
  const { body, ...rest } = request
  const { method, path, headers, host } = rest
  return {
    send: (call, signal) =>
      send(call, backend, settings, {
        ...rest,
        purpose: 'authorization',
        body: body === undefined || body.length === 0 ? undefined : body,
        timeoutMs: 0,
        defaultDeadlineMs: CALLOUT_DEADLINE_MS,
        signal,
      }),
    describe() {
      const head = Head.request(method, path)
      if (host !== undefined) head.set('host', host)
      for (const [name, value] of headers) head.append(name, value)
      let message = head.writeRequest(0, -1, '')
      for (const byte of body ?? []) message += String.fromCharCode(byte)
      return { protocol: 'http', message, credentials: credentialsIn(settings) }
    },
  }
}

/** The added headers whose value may come from a credential. */
function credentialsIn({ addedHeaders }: HttpSettings): WrittenCredential[] {
  return addedHeaders.flatMap(([name, value]) => (readsCredentials(value) ? [{ kind: 'header', name }] : []))
}

function questionHeaders(
  { sentHeaders, addedHeaders }: HttpSettings,
  exchange: Exchange,
  body: Uint8Array | undefined,
): [name: string, value: string][] {
  const headers = new Map<string, string>()
  for (const name of sentHeaders) {
    const value = joinedSpellings(exchange.request, name)
    if (value !== undefined) headers.set(name, value)
  }
  for (const [name, expression] of addedHeaders) {
    const text = expression.text(exchange)
    const value = text === undefined ? undefined : fieldText(text)
    if (value === undefined) headers.delete(name)
    else headers.set(name, value)
  }
  // Servers that know bodies that are cut expect it.
  if (body !== undefined) headers.set('x-envoy-auth-partial-body', 'false')
  return [...headers]
}

async function send(call: Call, backend: string, settings: HttpSettings, request: CallRequest): Promise<Answered> {
  try {
    const response = await call(backend, request)
    const { status } = response
    const body = await bodyOf(response)
    if (status !== 200) return (exchange) => denied(settings, response, body, exchange)
    if (body === undefined)
      return new FailedCall('response-invalid', `the response has more than ${MAX_BODY_BYTES} bytes`, '200')
    return (exchange) => allowed(settings, response, body, exchange)
  } catch (error) {
    return failureOf(error)
  }
}

/** @returns undefined if it is too large, or if the answer is a refusal whose body is incomplete: it is a refusal all the same */
async function bodyOf({ status, body }: CallResponse): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = []
  let length = 0
  try {
    for await (const piece of body) {
      length += piece.length
      if (length > MAX_BODY_BYTES) return undefined
      pieces.push(piece)
    }
  } catch (error) {
    if (status !== 200 && error instanceof CallError) return undefined
    throw error
  }
  return joinPieces(pieces, length)
}

function joinPieces(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

/** The named headers come from the server only: those that it does not send are removed (decision A-76). */
function allowed(
  { copiedHeaders, metadata }: HttpSettings,
  response: CallResponse,
  body: Uint8Array,
  exchange: Exchange,
): Verdict {
  const copied = response.headers.filter(([name]) =>
    copiedHeaders === 'all' ? isServerField(name) && !describesAnswer(name) : isAmong(copiedHeaders, name),
  )
  const headers = copied.map(([lowerName, value]): HeaderEdit => ({ lowerName, value, mode: 'append' }))
  const values = metadata.length === 0 ? undefined : metadataOf(metadata, response, body, exchange)
  const removedHeaders = copiedHeaders === 'all' ? copied.map(([name]) => name) : copiedHeaders
  return {
    status: `${response.status}`,
    refusal: undefined,
    edits: { ...NO_EDITS, removedHeaders, headers },
    metadata: values,
    bytes: body.length + heapOfJson(values ?? null),
  }
}

/** In any spelling (decision A-134). */
function isAmong(lowerNames: readonly string[], name: string): boolean {
  return lowerNames.some((each) => isSameName(each, name))
}

/** In a request, these fields would describe the client's body (RFC 9110, 8). */
function describesAnswer(lowerName: string): boolean {
  return foldName(lowerName).startsWith('content-')
}

/** The expressions see the response of the authorization server as `response`. A value that fails is left out. */
function metadataOf(
  metadata: HttpSettings['metadata'],
  { status, headers }: CallResponse,
  body: Uint8Array,
  exchange: Exchange,
): JsonObject {
  const { response, responseBody } = exchange
  const head = Head.response(status)
  for (const [name, value] of headers) head.append(name, value)
  exchange.response = head
  exchange.responseBody = wholeBody(body)
  const values = metadata.flatMap(([name, expression]) => {
    const value = expression.json(exchange)
    return value === undefined ? [] : [[name, value] as const]
  })
  exchange.response = response
  exchange.responseBody = responseBody
  return Object.fromEntries(values)
}

/** Redirections and faults of the client are passed on; other statuses say something about the server (decision A-74). */
function denied(
  settings: HttpSettings,
  { status, headers }: CallResponse,
  body: Uint8Array | undefined,
  exchange: Exchange,
): Verdict {
  const detail = `the authorization server answered ${status}`
  return {
    status: `${status}`,
    refusal: refusalOf(settings, { status, headers, body, detail }, exchange),
    edits: NO_EDITS,
    metadata: undefined,
    bytes: body?.length ?? 0,
  }
}

interface Denial extends Pick<CallResponse, 'status' | 'headers'> {
  readonly body: Uint8Array | undefined
  readonly detail: string
}

/** The fields for the backend are none of the client's business (decision A-74). */
function refusalOf(
  { redirect, copiedHeaders }: HttpSettings,
  { status, headers, body, detail }: Denial,
  exchange: Exchange,
): Refusal {
  if (redirect !== undefined && (status === 401 || status === 403)) return redirectTo(redirect, detail, exchange)
  if (body === undefined || status < 300 || status > 499) return reject('ext-auth-denied', { detail })
  const forBackend = copiedHeaders === 'all' ? [] : copiedHeaders
  const sent = headers.filter(([name]) => isServerField(name) && !isAmong(forBackend, name))
  return reject('ext-auth-denied', {
    detail,
    status,
    headers: sent.filter(([name]) => name !== 'content-type'),
    contentType: sent.find(([name]) => name === 'content-type')?.[1],
    bytes: body,
  })
}

/** Method and query are not carried over (decision A-72). */
function redirectTo(redirect: Expression, detail: string, exchange: Exchange): Refusal {
  const location = redirect.text(exchange)
  const value = location === undefined || location === '' ? undefined : fieldText(location)
  if (value === undefined) return reject('ext-auth-denied', { detail: `${detail}; redirect has no usable result` })
  return reject('ext-auth-denied', { detail, status: 302, headers: [['location', value]], body: '' })
}
