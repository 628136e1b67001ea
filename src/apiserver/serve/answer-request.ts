import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { DatabaseFault } from '#store/database/database-fault.ts'
import { JournalFailure } from '#store/resources/journal-failure.ts'
import { ApiError, type Reason } from '../http/api-error.ts'
import { readMediaType } from '../http/media-type.ts'
import { type Form, negotiate } from '../http/negotiate.ts'
import { type ResourceTarget, readTarget } from '../http/request-target.ts'
import type { Verb } from '../kinds/verbs-of.ts'
import { dispatch, verbOf } from '../verbs/dispatch.ts'
import type { RequestBody } from '../verbs/resource-request.ts'
import type { ApiContext } from './api-context.ts'
import { type OpenAudit, openAudit } from './open-audit.ts'
import { openWatch } from './open-watch.ts'
import { readBytes } from './read-bytes.ts'
import { writeAnswer, writeDocument, writeError } from './write-answer.ts'

/** Requests that are answered at the same time, besides watches. */
const MAX_IN_FLIGHT = 400
const READS: readonly Verb[] = ['get', 'list', 'watch']
/** Clients without token may read them (decision A-12). */
const PUBLIC_PATHS: readonly string[] = ['/healthz', '/livez', '/readyz', '/version']

/** Why a change could not be stored, unless it is internal. */
const JOURNAL_REASONS: Partial<Record<DatabaseFault, Reason>> = {
  full: 'InsufficientStorage',
  closed: 'ServiceUnavailable',
}

/** Answers the requests of one server. */
export class RequestAnswerer {
  readonly #context: ApiContext
  readonly #hasToken: (authorization: string | undefined) => boolean
  #inFlight = 0
  /** The answer to the last request of each connection. */
  readonly #last = new WeakMap<Socket, Promise<void>>()

  /** @param hasToken whether an `Authorization` header has the token of the server */
  constructor(context: ApiContext, hasToken: (authorization: string | undefined) => boolean) {
    this.#context = context
    this.#hasToken = hasToken
  }

  /** Resolves when the request is answered, or its watch has begun. Requests of one connection are answered in their order (RFC 9112, 9.3.2). */
  answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const before = this.#last.get(request.socket)
    const answered =
      before === undefined
        ? this.#answerNext(request, response)
        : before.then(() => this.#answerNext(request, response))
    this.#last.set(request.socket, answered)
    return answered
  }

  async #answerNext(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#inFlight += 1
    try {
      await this.#answer(request, response)
    } catch (error) {
      // The client left before all of its request was there.
      if (response.destroyed && !request.complete) return
      // What is left of the body has no reader, and the connection must not wait for it.
      if (!request.complete) response.setHeader('connection', 'close')
      request.resume()
      await writeError(response, this.#apiError(error), formOfErrors(request))
    } finally {
      this.#inFlight -= 1
    }
  }

  #apiError(error: unknown): ApiError {
    if (error instanceof ApiError) return error
    if (error instanceof JournalFailure) {
      return new ApiError(JOURNAL_REASONS[error.fault] ?? 'InternalError', error.message)
    }
    this.#context.reportBug(error)
    return new ApiError('InternalError', 'an internal error occurred')
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = splitUrl(request.url ?? '/')
    const target = readTarget(pathname)
    const isDocument = target?.type === 'other'
    const asked =
      target?.type === 'resource'
        ? { target, query: searchParams, audit: openAudit(this.#context, request, response, target, searchParams) }
        : undefined
    const isPublic = isDocument && PUBLIC_PATHS.includes(target.path)
    if (!isPublic && !this.#hasToken(request.headers.authorization)) throw new ApiError('Unauthorized', 'Unauthorized')
    if (!isPublic && this.#inFlight > MAX_IN_FLIGHT) throw tooMany()
    if (asked !== undefined) return this.#answerResource(request, response, asked)
    const document = isDocument ? this.#context.document(target.path, request.headers.accept) : undefined
    if (document === undefined) throw unknownPath()
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw new ApiError('MethodNotAllowed', 'the server does not allow this method on the requested resource')
    }
    writeDocument(request, response, document)
  }

  async #answerResource(
    request: IncomingMessage,
    response: ServerResponse,
    { target, query, audit }: AskedResource,
  ): Promise<void> {
    const { state, snapshots, watches } = this.#context
    const kind = state.kinds.find(target.group, target.version, target.plural)
    if (kind === undefined || (!kind.namespaced && target.namespace !== undefined)) throw unknownPath()
    const verb = verbOf(request.method ?? '', { target, query })
    const form = negotiate(request.headers.accept)
    const read = { kind, target, query, form, userAgent: request.headers['user-agent'] ?? '' }
    if (verb === 'watch') return openWatch(watches, { ...read, body: undefined }, response)
    if (READS.includes(verb))
      return writeAnswer(response, await dispatch(state, snapshots, verb, { ...read, body: undefined }), form.encoding)
    const answer = await dispatch(state, snapshots, verb, { ...read, body: await bodyOf(request) })
    audit.name ??= nameIn(answer.body)
    await writeAnswer(response, answer, form.encoding)
  }
}

/** A request about objects, before its kind and its body are read. */
interface AskedResource {
  readonly target: ResourceTarget
  readonly query: URLSearchParams
  readonly audit: OpenAudit
}

/** The name of an object, whatever form it is shown in. */
function nameIn(body: object): string | undefined {
  return (body as { readonly metadata?: { readonly name?: string } }).metadata?.name
}

async function bodyOf(request: IncomingMessage): Promise<RequestBody> {
  return { type: readMediaType(request.headers['content-type'] ?? ''), bytes: await readBytes(request) }
}

/** The path is relative to any host. */
function splitUrl(url: string): { readonly pathname: string; readonly searchParams: URLSearchParams } {
  const mark = url.indexOf('?')
  if (mark < 0) return { pathname: url, searchParams: new URLSearchParams() }
  return { pathname: url.slice(0, mark), searchParams: new URLSearchParams(url.slice(mark + 1)) }
}

/** Errors are JSON, unless the client accepts only YAML. */
function formOfErrors({ headers }: IncomingMessage): Form['encoding'] {
  try {
    return negotiate(headers.accept).encoding
  } catch {
    return 'json'
  }
}

function unknownPath(): ApiError {
  return new ApiError('NotFound', 'the server could not find the requested resource', {})
}

function tooMany(): ApiError {
  const message = 'the server has received too many requests and has asked us to try again later'
  return new ApiError('TooManyRequests', message, { retryAfterSeconds: 1 })
}
