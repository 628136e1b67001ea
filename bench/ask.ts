import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { text } from 'node:stream/consumers'
import type { Address } from './settings.ts'
import type { Suite } from './suite.ts'

interface Answer {
  readonly status: number
  readonly body: string
}

/**
 * Sends one request in the form of the suite. The certificate is not verified.
 * @throws Error if there is no response
 */
export function ask(suite: Suite, address: Address, signal: AbortSignal): Promise<Answer> {
  return suite.door === 'h2' ? askHttp2(suite, address, signal) : askHttp1(suite, address, signal)
}

async function askHttp1(
  { door, path, headers, body }: Suite,
  { host, port }: Address,
  signal: AbortSignal,
): Promise<Answer> {
  const options = {
    host,
    port,
    path,
    method: body === undefined ? 'GET' : 'POST',
    headers,
    signal,
    agent: false,
  }
  const request = door === 'tls' ? https.request({ ...options, rejectUnauthorized: false }) : http.request(options)
  request.end(body)
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  return { status: response.statusCode ?? 0, body: await text(response) }
}

async function askHttp2({ path }: Suite, { host, port }: Address, signal: AbortSignal): Promise<Answer> {
  const session = http2.connect(`http://${host}:${port}`)
  try {
    await once(session, 'connect', { signal })
    const stream = session.request({ ':path': path }, { signal })
    const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader]
    return { status: headers[':status'] ?? 0, body: await text(stream) }
  } finally {
    session.destroy()
  }
}
