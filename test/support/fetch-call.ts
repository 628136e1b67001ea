import { type Call, CallError, type CallRequest, type CallResponse } from '#exchange/call.ts'

/** Fields that `fetch` writes itself. */
const OWN_FIELDS = new Set(['host', 'connection', 'content-length'])

/** Implements gateway calls with `fetch`, for tests without a proxy. @param origins `http://host:port` by destination */
export function fetchCall(origins: Readonly<Record<string, string>>): Call {
  return async (destination, request) => {
    const origin = origins[destination]
    if (origin === undefined) throw new CallError('no-endpoint')
    return toCallResponse(await send(`${origin}${request.path}`, request))
  }
}

async function send(url: string, { method, headers, body, signal }: CallRequest): Promise<Response> {
  const fields = headers
    .filter(([name]) => !OWN_FIELDS.has(name))
    .map(([name, value]): [string, string] => [name, value])
  try {
    return await fetch(url, {
      method,
      headers: fields,
      signal,
      redirect: 'manual',
      ...(body instanceof Uint8Array && { body: new Uint8Array(body) }),
    })
  } catch {
    throw new CallError(signal.aborted ? 'cancelled' : 'connect-failed')
  }
}

function toCallResponse(response: Response): CallResponse {
  // A reader may be given up by somebody else, so all have the same iterator.
  const pieces = (response.body ?? (async function* () {})())[Symbol.asyncIterator]()
  return {
    status: response.status,
    headers: [...response.headers],
    header: (lowerName) => response.headers.get(lowerName) ?? undefined,
    endpoint: '127.0.0.1:80',
    trailer: () => undefined,
    body: { [Symbol.asyncIterator]: () => pieces },
  }
}
