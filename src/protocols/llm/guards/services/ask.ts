import { parseJson } from '#base/parse-json.ts'
import { CallError, type CallResponse } from '#exchange/call.ts'
import type { GuardSurroundings, ServiceVerdict } from './service.ts'

/** Time limit of a question unless `policies.http.requestTimeout` of the service sets one, in milliseconds (decision B52). */
const DEADLINE_MS = 10_000
/** A larger answer is none (decision B52). */
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

/** The answer of a service: JSON, and the id under which it knows the question. */
export interface ServiceAnswer {
  readonly json: unknown
  readonly requestId: string | undefined
}

/** Asks, and reads the answer as a verdict. Every failure is a verdict, too, whose detail shows no text of the service (decision B57). */
export async function ask(
  { destination, path, headers = [], body }: ServiceCall,
  { call, signal, budgetMs }: GuardSurroundings,
  read: (json: unknown) => ServiceVerdict,
): Promise<ServiceVerdict> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(budgetMs))])
  try {
    const response = await call(destination, {
      purpose: 'guard',
      method: 'POST',
      path,
      headers: [...headers, ['content-type', 'application/json'], ['accept', 'application/json']],
      body: new TextEncoder().encode(JSON.stringify(body)),
      timeoutMs: 0,
      defaultDeadlineMs: DEADLINE_MS,
      signal: limited,
    })
    const text = await readText(response)
    if (response.status < 200 || response.status > 299) return failed(`the service answered ${response.status}`)
    if (text === undefined) return failed(`the answer of the service is larger than ${MAX_BYTES} bytes`)
    return { ...readVerdict(text, read), requestId: requestIdOf(response) }
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    const isLate = error.failure === 'cancelled' && !signal.aborted
    return failed(isLate ? 'the guards of the request took too long together' : describe(error))
  }
}

function describe({ failure, detail }: CallError): string {
  return detail === undefined ? failure : `${failure} (${detail})`
}

function readVerdict(text: string, read: (json: unknown) => ServiceVerdict): ServiceVerdict {
  let json: unknown
  try {
    json = parseJson(text)
  } catch {
    return failed('the answer of the service is not JSON')
  }
  return read(json)
}

export function failed(detail: string): ServiceVerdict {
  return { kind: 'failed', detail }
}

const REQUEST_IDS = ['x-amzn-requestid', 'x-request-id', 'request-id', 'x-goog-request-id']
const MAX_ID = 128

function requestIdOf(response: CallResponse): string | undefined {
  for (const name of REQUEST_IDS) {
    const id = response.header(name)
    if (id !== undefined && /^[\w.:/=+-]+$/.test(id)) return id.slice(0, MAX_ID)
  }
  return undefined
}

/** Undefined: the body is too large. The body of an error is not used. */
async function readText({ status, body }: CallResponse): Promise<string | undefined> {
  const decoder = new TextDecoder()
  let text = ''
  let length = 0
  for await (const piece of body) {
    length += piece.length
    if (length > MAX_BYTES || status > 299) return undefined
    text += decoder.decode(piece, { stream: true })
  }
  return text + decoder.decode()
}
