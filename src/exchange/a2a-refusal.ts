import type { A2aCall } from './a2a-call.ts'
import { type Refusal, reject } from './outcome.ts'

/** Refuses a call with a method of HTTP that its binding does not define: an agent that ignores it would execute the call (decision B105). */
export function refuseMisused({ binding, allow }: A2aCall): Refusal | undefined {
  if (allow === undefined) return undefined
  const detail = `the binding ${NAMES[binding!]} of A2A defines other methods of HTTP for this call`
  return reject('method-not-allowed', { detail, headers: [['allow', allow]] })
}

/** Refuses a call that an agent could read otherwise than the gateway. */
export function refuseMisread(call: A2aCall): Refusal | undefined {
  const { unreadable } = call
  if (unreadable !== undefined) return reject('a2a-call-unreadable', { detail: unreadable })
  return refuseMisused(call)
}

const NAMES = { card: 'of cards', rest: 'HTTP+JSON', grpc: 'gRPC', jsonrpc: 'JSON-RPC' } as const
