import type { ImportKey } from '#base/verifying-key.ts'
import { type Call, CallError, type CallResponse } from '#exchange/call.ts'
import { readKeySet } from '#policies/shared/authentication/read-key-set.ts'
import type { KeySetAddress } from '#policies/shared/authentication/remote-key-set.ts'
import type { Fetched } from '../kept/keeper.ts'

/** For the whole call (decision A-62). */
const DEADLINE_MS = 10_000
const MAX_BYTES = 1024 * 1024

export interface FetchWith {
  readonly call: Call
  readonly importKey: ImportKey
  readonly signal: AbortSignal
}

/** Fetches a key set once; redirects are not followed (decision A-62). Rejects only for bugs. */
export async function fetchKeySet(
  { backend, path, cacheMs }: KeySetAddress,
  { call, importKey, signal }: FetchWith,
): Promise<Fetched<string>> {
  try {
    const response = await call(backend, {
      purpose: 'key-set',
      method: 'GET',
      path,
      headers: [['accept', 'application/jwk-set+json, application/json']],
      body: undefined,
      timeoutMs: 0,
      deadlineMs: DEADLINE_MS,
      signal,
    })
    return await readAnswer(response, importKey, cacheMs)
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    return { failure: error.detail === undefined ? error.failure : `${error.failure}: ${error.detail}` }
  }
}

async function readAnswer(response: CallResponse, importKey: ImportKey, forMs: number): Promise<Fetched<string>> {
  const refused = refusedHead(response)
  if (refused !== undefined) {
    await response.body[Symbol.asyncIterator]().return?.()
    return { failure: refused }
  }
  const bytes = await collect(response.body)
  if (bytes === undefined) return { failure: 'the response has more than 1 MiB' }
  const text = readText(bytes)
  if (text === undefined) return { failure: 'the response is not UTF-8' }
  const { keys, faults } = readKeySet(text, importKey)
  if (keys.size > 0) return { value: text, forMs }
  const why = faults.length === 0 ? '' : ` (${faults.slice(0, 3).join('; ')})`
  return { failure: `the response has no usable key${why}` }
}

function refusedHead(response: CallResponse): string | undefined {
  if (response.status !== 200) return `the server answered ${response.status}`
  const coding = response.header('content-encoding')?.toLowerCase() ?? 'identity'
  return coding === 'identity' ? undefined : 'the response is compressed'
}

/** @returns undefined when there is more than there may be; the rest is not read */
async function collect(body: AsyncIterable<Uint8Array>): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body) {
    length += piece.length
    if (length > MAX_BYTES) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces, length)
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function readText(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}
