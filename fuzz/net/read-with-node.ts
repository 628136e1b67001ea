import http from 'node:http'
import { duplexPair } from 'node:stream'
import type { ReadRequest } from './read-with-gateway.ts'

/** The result of node:http, in strict mode, for the bytes of one connection. */
export interface NodeReading {
  readonly requests: readonly ReadRequest[]
  /** Names and values of the fields of each. */
  readonly fields: readonly (readonly (readonly [name: string, value: string])[])[]
  /** Code of the error that ended it; undefined when it read everything. */
  readonly error: string | undefined
}

/** Lets an HTTP server of Node read `text`, without a socket. */
export function readWithNode(text: string): Promise<NodeReading> {
  return new Promise((resolve) => {
    const requests: ReadRequest[] = []
    const fields: [string, string][][] = []
    let error: string | undefined
    const [ours, theirs] = duplexPair()
    const server = http.createServer({ maxHeaderSize: 131_072, keepAliveTimeout: 0 }, (request, response) => {
      let body = ''
      request.on('data', (bytes: Buffer) => {
        body += bytes.toString('latin1')
      })
      request.on('end', () => {
        requests.push({ method: request.method ?? '', target: request.url ?? '', body })
        fields.push(pairsOf(request.rawHeaders))
        response.end()
      })
      request.on('error', () => {})
    })
    // Node has separate events for expectations; the framing is the same.
    const serve = (request: http.IncomingMessage, response: http.ServerResponse) =>
      server.emit('request', request, response)
    server.on('checkExpectation', serve)
    server.on('checkContinue', serve)
    server.on('clientError', (cause: NodeJS.ErrnoException) => {
      error ??= cause.code ?? cause.message
      // The requests before the invalid one are complete, but their ends are reported later.
      setImmediate(() => theirs.destroy())
    })
    let answers = ''
    ours.on('data', (bytes: Buffer) => {
      answers += bytes.toString('latin1')
      // Node refuses some requests with 400 and without an event.
      if (/HTTP\/1\.1 4\d\d /.test(answers)) error ??= 'refused'
    })
    ours.on('error', () => {})
    theirs.on('error', () => {})
    theirs.on('close', () => resolve({ requests, fields, error }))
    server.emit('connection', theirs)
    ours.end(text, 'latin1')
  })
}

function pairsOf(flat: readonly string[]): [string, string][] {
  return flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1]!]] : []))
}
