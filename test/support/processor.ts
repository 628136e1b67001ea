import { Server, ServerCredentials, type ServerDuplexStream, type ServiceError } from '@grpc/grpc-js'
import { envoyService } from './envoy-definitions.ts'

/** A header, as `protobufjs` reads it. */
interface Header {
  readonly key: string
  readonly value: string
  readonly rawValue: Buffer
}

interface Headers {
  readonly headers: { readonly headers: readonly Header[] }
  readonly endOfStream: boolean
}

interface Body {
  readonly body: Buffer
  readonly endOfStream: boolean
}

/** A message to the processor; exactly one part is set, and `request` names it. */
export interface Part {
  readonly request:
    | 'requestHeaders'
    | 'requestBody'
    | 'requestTrailers'
    | 'responseHeaders'
    | 'responseBody'
    | 'responseTrailers'
  readonly requestHeaders?: Headers
  readonly requestBody?: Body
  readonly requestTrailers?: { readonly trailers: Headers['headers'] }
  readonly responseHeaders?: Headers
  readonly responseBody?: Body
  readonly responseTrailers?: { readonly trailers: Headers['headers'] }
  readonly protocolConfig: object | null
  readonly attributes: object
}

/** One conversation, as the processor sees it. */
export interface Talk {
  readonly parts: Part[]
  /** `requestHeaders`, `requestBody hello`, `requestBody end`: each part, in short. */
  readonly seen: string[]
  readonly stream: ServerDuplexStream<Part, object>
  /** The gateway has ended the stream normally. */
  ended: boolean
  cancelled: boolean
}

/** Answers one part. */
export type AnswerPart = (part: Part, talk: Talk) => object | readonly object[] | undefined

export interface TestProcessor {
  readonly port: number
  readonly talks: Talk[]
  close(): void
}

/** Headers by name; pseudo-headers have a text, others bytes. */
export function headersOf(headers: Headers | undefined): Record<string, string> {
  const pairs = (headers?.headers.headers ?? []).map(({ key, value, rawValue }) => [
    key,
    rawValue.length > 0 ? rawValue.toString('latin1') : value,
  ])
  return Object.fromEntries(pairs)
}

/** An answer that sets headers. */
export const setting = (headers: Readonly<Record<string, string>>, removeHeaders: readonly string[] = []) => ({
  headerMutation: {
    setHeaders: Object.entries(headers).map(([key, value]) => ({ header: { key, rawValue: Buffer.from(value) } })),
    removeHeaders,
  },
})

/** The answer to a part that changes nothing; a streamed body is returned as it is. */
export function unchanged({ request, requestBody, responseBody }: Part): object {
  const body = requestBody ?? responseBody
  if (body === undefined) return { [request]: {} }
  return { [request]: { response: { bodyMutation: { streamedResponse: body } } } }
}

/** Starts a processor of another implementation of gRPC. */
export async function startProcessor(answer: AnswerPart): Promise<TestProcessor> {
  const service = envoyService(
    'envoy/service/ext_proc/v3/external_processor.proto',
    'envoy.service.ext_proc.v3.ExternalProcessor',
  )
  const talks: Talk[] = []
  const server = new Server()
  server.addService(service, {
    process(stream: ServerDuplexStream<Part, object>) {
      const talk: Talk = { parts: [], seen: [], stream, ended: false, cancelled: false }
      talks.push(talk)
      stream.on('data', (part: Part) => {
        talk.parts.push(part)
        talk.seen.push(shortForm(part))
        try {
          const answers = answer(part, talk)
          for (const each of answers === undefined ? [] : [answers].flat()) stream.write(each)
        } catch (error) {
          stream.emit('error', error as ServiceError)
        }
      })
      stream.on('end', () => {
        talk.ended = true
        stream.end()
      })
      stream.on('cancelled', () => {
        talk.cancelled = true
      })
      stream.on('error', () => {})
    },
  })
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    )
  })
  return { port, talks, close: () => server.forceShutdown() }
}

function shortForm(part: Part): string {
  const { request, requestHeaders, responseHeaders, requestBody, responseBody } = part
  const body = requestBody ?? responseBody
  if (body !== undefined) {
    const { length } = body.body
    const text = length > 40 ? `${length} bytes` : body.body.toString()
    return `${request}${text === '' ? '' : ` ${text}`}${body.endOfStream ? ' end' : ''}`
  }
  return `${request}${(requestHeaders ?? responseHeaders)?.endOfStream === true ? ' end' : ''}`
}
