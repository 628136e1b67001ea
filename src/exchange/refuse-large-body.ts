import { type Refusal, reject } from './outcome.ts'

/** Refuses a body that must be buffered and exceeds the limit. Client, log and record get the limit, and the field that sets it. */
export function refuseLargeBody(code: 'body-too-large' | 'response-too-large', maxBytes: number): Refusal {
  const limit = `the limit is ${maxBytes} bytes (frontend.http.maxBufferSize)`
  return reject(code, { detail: limit, limit })
}
