import { clock } from '#base/clock.ts'
import { parseJson } from '#base/parse-json.ts'
import { CallError, type CallResponse } from '#exchange/call.ts'
import { parseDocument } from '../../json/json-document.ts'
import { encode } from '../../json/splice.ts'
import type { FailedVerdict, GuardSurroundings, ServiceVerdict } from './service.ts'

/** Time limit of a question unless `policies.http.requestTimeout` of the service sets one, in milliseconds (decision B52). */
const DEADLINE_MS = 10_000
/** A larger answer counts as a failure (decision B52). */
const MAX_BYTES = 2 * 1024 * 1024

/** A question to a service. */
export interface ServiceCall {
  /** Key of the backend. */
  readonly destination: string
  /** Path and query. */
  readonly path: string
  readonly headers?: readonly (readonly [name: string, value: string])[]
  readonly body: unknown
}

/** Asks, and reads the answer as a verdict. Every failure is a verdict, too, whose detail shows no text of the service (decision B57). */
export async function ask(
  { destination, path, headers = [], body }: ServiceCall,
  { call, signal, untilMs }: GuardSurroundings,
  read: (json: unknown) => ServiceVerdict,
): Promise<ServiceVerdict> {
  const maxDeadlineMs = untilMs - clock.monotonic()
  if (maxDeadlineMs <= 0) return outOfTime('unasked')
  try {
    const response = await call(destination, {
      purpose: 'guard',
      method: 'POST',
      path,
      headers: [
        ...headers,
        ['content-type', 'application/json'],
        ['accept', 'application/json'],
        ['accept-encoding', 'identity'],
      ],
      body: encode(JSON.stringify(body)),
      timeoutMs: 0,
      defaultDeadlineMs: DEADLINE_MS,
      maxDeadlineMs,
      signal,
    })
    return { ...(await readAnswer(response, read)), requestId: requestIdOf(response) }
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    // `explain` shows what would happen if the service let the texts pass.
    if (error.failure === 'not-made') return { kind: 'pass' }
    if (clock.monotonic() >= untilMs) return outOfTime('out-of-time')
    const failure = failed(describe(error))
    // Clients may have to send the credential.
    return error.failure === 'backend-auth-failed' ? { ...failure, sparesService: 'unasked' } : failure
  }
}

function describe({ failure, detail }: CallError): string {
  return detail === undefined ? failure : `${failure} (${detail})`
}

async function readAnswer(response: CallResponse, read: (json: unknown) => ServiceVerdict): Promise<ServiceVerdict> {
  const { status } = response
  const fault = faultOf(response)
  if (fault !== undefined) {
    await drop(response)
    return { ...failed(fault), ...(REFUSALS.has(status) && { sparesService: 'answered' }) }
  }
  let json: unknown
  let isAmbiguous: boolean
  try {
    const text = await readText(response)
    if (text === undefined) return tooLarge()
    json = parseJson(text)
    isAmbiguous = 'fault' in parseDocument(encode(text))
  } catch (error) {
    if (error instanceof CallError) throw error
    return failed('the answer of the service is not JSON')
  }
  const verdict = read(json)
  // With a duplicate key, it is unclear which verdict is meant.
  if (verdict.kind === 'reject' || !isAmbiguous) return verdict
  return failed('the answer of the service has a duplicate key, or is nested too deeply')
}

/** Statuses with which a service refuses this text, or a header of this client. Other questions may succeed. */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 403, 413, 422, 431])

/** Why the body of an answer is not read. Redirects are not followed (decision B58). */
function faultOf(response: CallResponse): string | undefined {
  const { status } = response
  if (status < 200 || status > 299) return `the service answered ${status}`
  const coding = response.header('content-encoding')?.toLowerCase() ?? 'identity'
  return coding === 'identity' ? undefined : 'the answer of the service is compressed, although it must not be'
}

/** No longer waits for the body. */
async function drop({ body }: CallResponse): Promise<void> {
  await body[Symbol.asyncIterator]().return?.()
}

/** Undefined: the body is too large. @throws TypeError if it is not UTF-8 */
async function readText({ body }: CallResponse): Promise<string | undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  let length = 0
  for await (const piece of body) {
    length += piece.length
    if (length > MAX_BYTES) return undefined
    text += decoder.decode(piece, { stream: true })
  }
  return text + decoder.decode()
}

export function failed(detail: string): FailedVerdict {
  return { kind: 'failed', detail }
}

/** This says nothing about the service: a mask is as large as the text, which a client chooses. */
function tooLarge(): FailedVerdict {
  return { ...failed(`the answer of the service is larger than ${MAX_BYTES} bytes`), sparesService: 'answered' }
}

function outOfTime(sparesService: 'unasked' | 'out-of-time'): FailedVerdict {
  return { ...failed('the guards of the request took too long together'), sparesService }
}

const REQUEST_IDS = ['x-amzn-requestid', 'x-request-id', 'request-id', 'x-goog-request-id']

/** The id of the request at the service, if it has the form of an id and at most 128 characters: other values may be text of a user. */
function requestIdOf(response: CallResponse): string | undefined {
  for (const name of REQUEST_IDS) {
    const id = response.header(name)
    if (id !== undefined && /^[\w.:/=+-]{1,128}$/.test(id)) return id
  }
  return undefined
}
