import http from 'node:http'
import { duplexPair } from 'node:stream'

/** The result of Node's HTTP client, in strict mode, for the bytes of one connection. */
export interface NodeResponse {
  readonly status: number
  readonly body: string
  /** The body was complete. */
  readonly complete: boolean
  readonly error: string | undefined
}

/** Lets the HTTP client of Node read `text` as the response to `method`, without a socket; then the connection ends. */
export function readResponseWithNode(method: string, text: string): Promise<NodeResponse> {
  return new Promise((resolve) => {
    let status = 0
    let body = ''
    let complete = false
    let error: string | undefined
    const [ours, theirs] = duplexPair()
    const note = (cause: NodeJS.ErrnoException) => {
      error ??= cause.code ?? cause.message
    }
    const createConnection = () => theirs as unknown as import('node:net').Socket
    const request = http.request({ method, createConnection, maxHeaderSize: 131_072 }, (response) => {
      status = response.statusCode ?? 0
      response.on('data', (bytes: Buffer) => {
        body += bytes.toString('latin1')
      })
      response.on('end', () => {
        complete = response.complete
      })
      response.on('error', note)
      response.on('close', finish)
    })
    request.on('upgrade', finish)
    request.on('error', (cause) => {
      note(cause)
      finish()
    })
    function finish(): void {
      theirs.destroy()
      resolve({ status, body, complete, error })
    }
    ours.on('error', () => {})
    ours.resume()
    request.end()
    ours.end(text, 'latin1')
  })
}
