import {
  Client,
  type ClientDuplexStream,
  type ClientReadableStream,
  type ClientUnaryCall,
  type ClientWritableStream,
  credentials,
  Metadata,
  type MethodDefinition,
  type requestCallback,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type ServiceError,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js'

/** Messages are text. */
const text = {
  requestSerialize: (value: string) => Buffer.from(value),
  requestDeserialize: (bytes: Buffer) => bytes.toString(),
  responseSerialize: (value: string) => Buffer.from(value),
  responseDeserialize: (bytes: Buffer) => bytes.toString(),
}

function method(path: string, requestStream = false, responseStream = false): MethodDefinition<string, string> {
  return { path, requestStream, responseStream, ...text }
}

/** One method of each kind. */
function serviceOf(name: string) {
  return {
    say: method(`/${name}/Say`),
    fail: method(`/${name}/Fail`),
    count: method(`/${name}/Count`, false, true),
    join: method(`/${name}/Join`, true, false),
    talk: method(`/${name}/Talk`, true, true),
    wait: method(`/${name}/Wait`),
  } satisfies ServiceDefinition
}

/** A gRPC server and its observations. */
export interface GrpcBackend {
  readonly port: number
  /** The metadata of the last request to `Say`. */
  readonly seen: () => Metadata | undefined
  /** The number of calls of `Wait` and `Talk` that were cancelled. */
  readonly cancelled: () => number
  close(): void
}

/** Starts a gRPC server with the same methods for each service name. */
export async function startGrpcBackend(
  services: readonly string[],
  secure?: { readonly cert: string; readonly key: string },
): Promise<GrpcBackend> {
  let seen: Metadata | undefined
  let cancelled = 0
  const server = new Server({ 'grpc.max_receive_message_length': -1 })
  const methods = {
    say(call: ServerUnaryCall<string, string>, answer: sendUnaryData<string>) {
      seen = call.metadata
      const head = new Metadata()
      head.set('x-head', 'in the head')
      call.sendMetadata(head)
      const trailers = new Metadata()
      trailers.set('x-tail', 'in the trailers')
      answer(null, `said ${call.request}`, trailers)
    },
    fail(_: ServerUnaryCall<string, string>, answer: sendUnaryData<string>) {
      const metadata = new Metadata()
      metadata.set('x-why', 'because')
      answer({ code: status.FAILED_PRECONDITION, details: 'not now: grün', metadata })
    },
    count(call: ServerWritableStream<string, string>) {
      for (let i = 1; i <= Number(call.request); i++) call.write(`${i}`)
      call.end()
    },
    join(call: ServerReadableStream<string, string>, answer: sendUnaryData<string>) {
      let joined = ''
      call.on('data', (word: string) => {
        joined += word
      })
      call.on('end', () => answer(null, joined))
    },
    talk(call: ServerDuplexStream<string, string>) {
      call.on('data', (word: string) => call.write(word.toUpperCase()))
      call.on('end', () => call.end())
      call.on('cancelled', () => cancelled++)
    },
    wait(call: ServerUnaryCall<string, string>) {
      call.on('cancelled', () => cancelled++)
    },
  }
  for (const name of services) server.addService(serviceOf(name), methods)
  const port = await listen(server, secure)
  return { port, seen: () => seen, cancelled: () => cancelled, close: () => server.forceShutdown() }
}

function listen(server: Server, secure?: { readonly cert: string; readonly key: string }): Promise<number> {
  const pair = secure && { cert_chain: Buffer.from(secure.cert), private_key: Buffer.from(secure.key) }
  const trust = pair === undefined ? ServerCredentials.createInsecure() : ServerCredentials.createSsl(null, [pair])
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', trust, (error, bound) => (error === null ? resolve(bound) : reject(error)))
  })
}

/** Methods of a service with one message in each direction, by name: from request to response, or to an error with a code. */
export type UnaryMethods = Readonly<Record<string, (request: never) => unknown>>

/** Starts a server of a published service. A method that throws a `ServiceError` answers with that status. */
export async function startGrpcService(
  service: ServiceDefinition,
  methods: UnaryMethods,
  secure?: { readonly cert: string; readonly key: string },
): Promise<{ readonly port: number; close(): void }> {
  const server = new Server()
  const handlers = Object.entries(methods).map(([name, method]) => [
    name,
    async ({ request }: ServerUnaryCall<never, unknown>, answer: sendUnaryData<unknown>) => {
      try {
        answer(null, await method(request))
      } catch (error) {
        answer(error as ServiceError)
      }
    },
  ])
  server.addService(service, Object.fromEntries(handlers))
  return { port: await listen(server, secure), close: () => server.forceShutdown() }
}

/** The result of a unary call. */
export interface Answered {
  readonly message: string | undefined
  readonly code: status
  readonly details: string
  readonly head: Metadata | undefined
  readonly trailers: Metadata
}

export interface CallOptions {
  readonly deadlineMs?: number
  readonly metadata?: Readonly<Record<string, string>>
}

/** A client of one service. */
export class GrpcCaller {
  readonly client: Client
  readonly #service: ReturnType<typeof serviceOf>

  constructor(address: string, service: string, ca?: string) {
    const trust = ca === undefined ? credentials.createInsecure() : credentials.createSsl(Buffer.from(ca))
    const name = ca === undefined ? {} : { 'grpc.ssl_target_name_override': 'server.test' }
    this.client = new Client(address, trust, { ...name, 'grpc.max_receive_message_length': -1 })
    this.#service = serviceOf(service)
  }

  ask(name: 'say' | 'fail' | 'wait', message: string, options: CallOptions = {}): Promise<Answered> {
    return this.start(name, message, options).answered
  }

  start(
    name: 'say' | 'fail' | 'wait',
    message: string,
    { deadlineMs, metadata = {} }: CallOptions = {},
  ): { call: ClientUnaryCall; answered: Promise<Answered> } {
    const { path } = this.#service[name]
    const { promise: answered, resolve } = Promise.withResolvers<Answered>()
    const sent = new Metadata()
    for (const [key, value] of Object.entries(metadata)) sent.set(key, value)
    const options = deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs }
    let head: Metadata | undefined
    let result: { message?: string; error: ServiceError | null } = { error: null }
    const done: requestCallback<string> = (error, answer) => {
      result = { error, ...(answer === undefined ? {} : { message: answer }) }
    }
    const { requestSerialize, responseDeserialize } = text
    const call = this.client.makeUnaryRequest(path, requestSerialize, responseDeserialize, message, sent, options, done)
    call.on('metadata', (received) => {
      head = received
    })
    call.on('status', ({ code, details, metadata: trailers }) => {
      setImmediate(() => resolve({ message: result.message, code, details, head, trailers }))
    })
    return { call, answered }
  }

  count(to: number): ClientReadableStream<string> {
    return this.client.makeServerStreamRequest(
      this.#service.count.path,
      text.requestSerialize,
      text.responseDeserialize,
      `${to}`,
    )
  }

  join(done: requestCallback<string>): ClientWritableStream<string> {
    return this.client.makeClientStreamRequest(
      this.#service.join.path,
      text.requestSerialize,
      text.responseDeserialize,
      done,
    )
  }

  talk(): ClientDuplexStream<string, string> {
    return this.client.makeBidiStreamRequest(this.#service.talk.path, text.requestSerialize, text.responseDeserialize)
  }
}
