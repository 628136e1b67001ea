import type { Exchange } from '#exchange/exchange.ts'
import type { Head } from '#net/http/head.ts'

// The request as received, independent of changes by policies: authentication policies must not affect each other, and a transformation must
// not disable a check (decisions ). A head that was not received is what it is now.

const NONE: readonly string[] = []

/** Values of a header. `_` and `-` are equivalent in the name (decision A-134). `name` in lower case. */
export function receivedValues(head: Head, name: string): readonly string[] {
  if (head.text === '') return head.getAll(name)
  if (!head.mayHaveReceived(name)) return NONE
  // Nearly always there is one: a list that grows would have room for 16 more.
  let values: readonly string[] = NONE
  for (let at = 0; at < head.received; at++) {
    if (!head.isNamed(at, name)) continue
    const value = head.receivedValue(at)
    values = values.length === 0 ? [value] : [...values, value]
  }
  return values
}

/** Evaluates with the request as received. @param evaluate must not change the request */
export function withReceivedRequest<T>(exchange: Exchange, evaluate: () => T): T {
  const { request, newRequestBody } = exchange
  exchange.request = receivedHead(exchange)
  exchange.newRequestBody = undefined
  try {
    return evaluate()
  } finally {
    exchange.request = request
    exchange.newRequestBody = newRequestBody
  }
}

function receivedHead({ request, originalMethod, originalTarget, originalAuthority }: Exchange): Head {
  if (request.text === '') return request
  const { method, target, authority } = request
  const keepsLine = method === originalMethod && target === originalTarget && authority === originalAuthority
  if (keepsLine && request.hasReceivedFields) return request
  const head = request.cloneAsReceived()
  head.method = originalMethod
  head.target = originalTarget
  if (head.authority !== originalAuthority) head.authority = originalAuthority
  return head
}
