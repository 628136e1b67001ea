import { once } from 'node:events'
import type { ClientHttp2Session, OutgoingHttpHeaders } from 'node:http2'

/** The response to a request. */
export interface Answer {
  readonly status: number
  readonly fields: string[]
  readonly body: string
  readonly trailers: string[]
  /** Interim responses. */
  readonly informed: number[]
  /** Error code of the reset that truncated it; 0: it ended normally. */
  readonly resetCode: number
  readonly whole: boolean
}

/** Sends a request with `body` and waits for the end of its stream. */
export async function ask(
  client: ClientHttp2Session,
  headers: OutgoingHttpHeaders | readonly string[],
  body?: string,
): Promise<Answer> {
  const stream = client.request(headers as OutgoingHttpHeaders, { endStream: body === undefined })
  let text = ''
  let status = 0
  let fields: string[] = []
  let trailers: string[] = []
  let whole = false
  const informed: number[] = []
  stream.on('response', (response, _flags, raw) => {
    status = Number(response[':status'])
    fields = raw
  })
  stream.on('headers', (head) => informed.push(Number(head[':status'])))
  stream.on('trailers', (_trailers, _flags, raw) => {
    trailers = raw
  })
  stream.on('data', (bytes: Buffer) => {
    text += bytes.toString('latin1')
  })
  stream.on('end', () => {
    whole = !stream.aborted
  })
  stream.on('error', () => {})
  if (body !== undefined) stream.end(body)
  await once(stream, 'close').catch(() => {})
  return { status, fields, body: text, trailers, informed, resetCode: stream.rstCode ?? 0, whole }
}
