import type { Misfit } from '#cel/index.ts'
import { type A2aCall, readA2aCall } from '../a2a-call.ts'
import { currentName } from '../a2a-methods.ts'
import type { Exchange } from '../exchange.ts'
import { ExchangeSlot } from '../exchange-slot.ts'
import { type KnownBody, LARGE_BODY, wholeBody } from '../known-body.ts'
import type { Declared } from './declared.ts'

/** Name of the variable whose value depends on the path and the body of a request. */
export const A2A_METHOD = 'a2a.method'

/** What the client calls. Before the backend is known it is read from the request, whose body is buffered for it. */
export const A2A: readonly Declared[] = [
  {
    path: A2A_METHOD,
    type: 'string',
    always: true,
    read: (x) => x.a2a?.method ?? callOf(x).method,
    misfit: methodMisfit,
  },
]

/** A call, and the parts of the request that it was read from. */
interface ReadCall {
  readonly method: string
  readonly target: string
  readonly body: Uint8Array | KnownBody
  readonly call: A2aCall
}

const READ = new ExchangeSlot<ReadCall | undefined>(undefined)

/** The call that a request is, as rules see it. It is read once, and again after a policy has changed the request. */
export function callOf({ request, newRequestBody, requestBody, slots }: Exchange): A2aCall {
  const { method, target } = request
  const body = newRequestBody ?? requestBody
  const known = slots.get(READ)
  if (known !== undefined && known.method === method && known.target === target && known.body === body)
    return known.call
  const call = readA2aCall(request, body instanceof Uint8Array ? wholeBody(body) : withoutStart(body))
  slots.set(READ, { method, target, body, call })
  return call
}

/** Rules decide about whole messages. */
function withoutStart(body: KnownBody): KnownBody {
  return body.kind === 'large' ? LARGE_BODY : body
}

function methodMisfit(text: string, part: 'whole' | 'prefix'): Misfit | undefined {
  const current = part === 'whole' ? currentName(text) : text
  return current === text ? undefined : { why: 'methods have the names of protocol 1.0', instead: current }
}
