import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { JsonObject } from '@bufbuild/protobuf'
import { Metadata, Server, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js'
import { eventually } from './eventually.ts'
import { decodeOfficial, encodeOfficial } from './otlp-definitions.ts'
import type { PassingTime } from './passing-time.ts'

export type Signal = 'logs' | 'traces' | 'metrics'
type Value = string | number | boolean | null | readonly Value[] | { readonly [name: string]: Value }
export type Attributes = Readonly<Record<string, Value>>

/** A received log record, span or metric, with what encloses it. */
export interface Received {
  readonly signal: Signal
  readonly transport: 'GRPC' | 'HTTP'
  /** Of the request. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly resource: Attributes
  readonly scope: string
  /** The whole record or span, as the JSON form of protobuf. */
  readonly item: JsonObject
  readonly attributes: Attributes
}

/** How a collector answers one export. */
export type Answer =
  | { readonly rejected?: number; readonly message?: string }
  /** An HTTP status, or a code of gRPC. */
  | { readonly status: number; readonly retryAfterSeconds?: number }
  | 'never'

/** An OTLP server for tests, over both transports. It decodes with the official definitions. */
export interface Collector extends AsyncDisposable {
  readonly grpcPort: number
  readonly httpPort: number
  readonly received: Received[]
  /** Number of exports, also of those that were not accepted. */
  exports: number
  /** By default all is accepted. */
  answer: (signal: Signal, items: number) => Answer
}

const NAMES = {
  logs: {
    service: 'logs.v1.LogsService',
    message: 'logs.v1.ExportLogsService',
    list: 'logRecords',
    rejected: 'rejectedLogRecords',
  },
  traces: {
    service: 'trace.v1.TraceService',
    message: 'trace.v1.ExportTraceService',
    list: 'spans',
    rejected: 'rejectedSpans',
  },
  metrics: {
    service: 'metrics.v1.MetricsService',
    message: 'metrics.v1.ExportMetricsService',
    list: 'metrics',
    rejected: 'rejectedDataPoints',
  },
} as const
const SIGNALS = ['logs', 'traces', 'metrics'] as const
const PACKAGE = 'opentelemetry.proto.collector'

export async function startCollector(): Promise<Collector> {
  const take = (signal: Signal, bytes: Uint8Array, over: Pick<Received, 'transport' | 'path' | 'headers'>): Answer => {
    const items = read(signal, bytes).map((one) => ({ signal, ...over, ...one }))
    collector.exports++
    const answer = collector.answer(signal, items.length)
    if (typeof answer === 'object' && !('status' in answer)) collector.received.push(...items)
    return answer
  }
  const grpc = new Server()
  for (const signal of SIGNALS) grpc.addService(serviceOf(signal), { export: grpcHandler(signal, take) })
  const grpcPort = await new Promise<number>((resolve, reject) => {
    grpc.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    )
  })
  const http = createServer(async (request, response) => {
    const path = request.url ?? ''
    const signal = SIGNALS.find((one) => path.includes(one)) ?? 'logs'
    const headers = request.headers as Received['headers']
    answerHttp(response, signal, take(signal, await buffer(request), { transport: 'HTTP', path, headers }))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const collector: Collector = {
    grpcPort,
    httpPort: (http.address() as AddressInfo).port,
    received: [],
    exports: 0,
    answer: () => ({}),
    async [Symbol.asyncDispose]() {
      grpc.forceShutdown()
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
  return collector
}

type Take = (signal: Signal, bytes: Uint8Array, over: Pick<Received, 'transport' | 'path' | 'headers'>) => Answer

function serviceOf(signal: Signal): ServiceDefinition {
  const raw = { serialize: (bytes: Uint8Array) => Buffer.from(bytes), deserialize: (bytes: Buffer) => bytes }
  return {
    export: {
      path: `/${PACKAGE}.${NAMES[signal].service}/Export`,
      requestStream: false,
      responseStream: false,
      requestSerialize: raw.serialize,
      requestDeserialize: raw.deserialize,
      responseSerialize: raw.serialize,
      responseDeserialize: raw.deserialize,
    },
  }
}

function grpcHandler(signal: Signal, take: Take) {
  return (
    call: { request: Buffer; metadata: Metadata; getPath(): string },
    done: (error: object | null, bytes?: Uint8Array) => void,
  ) => {
    const headers = call.metadata.getMap() as Received['headers']
    const answer = take(signal, call.request, { transport: 'GRPC', path: call.getPath(), headers })
    if (answer === 'never') return
    if (!('status' in answer)) return done(null, accepted(signal, answer))
    const { status, retryAfterSeconds } = answer
    done({ code: status, details: 'not now', metadata: retryMetadata(status, retryAfterSeconds) })
  }
}

function retryMetadata(code: number, seconds: number | undefined): Metadata {
  const metadata = new Metadata()
  if (seconds === undefined) return metadata
  const info = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` }
  metadata.set('grpc-status-details-bin', Buffer.from(encodeOfficial('google.rpc.Status', { code, details: [info] })))
  return metadata
}

function answerHttp(response: ServerResponse, signal: Signal, answer: Answer): void {
  if (answer === 'never') return
  response.setHeader('content-type', 'application/x-protobuf')
  if (!('status' in answer)) return void response.end(accepted(signal, answer))
  const { status, retryAfterSeconds } = answer
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', String(retryAfterSeconds))
  response.writeHead(status).end(encodeOfficial('google.rpc.Status', { message: 'not now' }))
}

function accepted(signal: Signal, { rejected, message }: { rejected?: number; message?: string }): Uint8Array {
  const partialSuccess = { [NAMES[signal].rejected]: String(rejected ?? 0), errorMessage: message ?? '' }
  return encodeOfficial(`${PACKAGE}.${NAMES[signal].message}Response`, rejected === undefined ? {} : { partialSuccess })
}

type Decoded = { readonly [name: string]: never }

function read(signal: Signal, bytes: Uint8Array): Pick<Received, 'resource' | 'scope' | 'item' | 'attributes'>[] {
  const root = decodeOfficial(`${PACKAGE}.${NAMES[signal].message}Request`, bytes) as Decoded
  const found: Pick<Received, 'resource' | 'scope' | 'item' | 'attributes'>[] = []
  for (const one of listOf(root, 'resourceLogs', 'resourceSpans', 'resourceMetrics')) {
    const resource = attributesOf((one.resource as Decoded | undefined)?.attributes)
    for (const scoped of listOf(one, 'scopeLogs', 'scopeSpans', 'scopeMetrics')) {
      const scope = (scoped.scope as { name?: string } | undefined)?.name ?? ''
      for (const item of listOf(scoped, NAMES[signal].list)) {
        found.push({ resource, scope, item, attributes: attributesOf(item.attributes) })
      }
    }
  }
  return found
}

function listOf(value: Decoded, ...names: readonly string[]): readonly Decoded[] {
  return names.flatMap((name) => (value[name] as readonly Decoded[] | undefined) ?? [])
}

/** @throws if a name occurs twice, which OpenTelemetry forbids */
function attributesOf(list: readonly { key: string; value?: Decoded }[] = []): Attributes {
  const attributes: Record<string, Value> = {}
  for (const { key, value } of list) {
    if (key in attributes) throw new Error(`attribute ${key} occurs twice`)
    attributes[key] = anyValue(value)
  }
  return attributes
}

function anyValue(value: Decoded | undefined): Value {
  const [[kind, content] = ['null', null]] = Object.entries(value ?? {}) as [string, unknown][]
  if (kind === 'intValue') return Number(content)
  if (kind === 'arrayValue') return ((content as { values?: Decoded[] }).values ?? []).map(anyValue)
  if (kind === 'kvlistValue') return attributesOf((content as { values?: never[] }).values)
  return content as Value
}

/** The bytes of an identifier in the JSON form of protobuf, as hexadecimal digits. */
export function hexOf(base64: unknown): string {
  return Buffer.from(String(base64 ?? ''), 'base64').toString('hex')
}

/** How long telemetry waits for more that shares its export. */
const SHARING_MS = 1000

/** So many times an export may begin before what is awaited arrives. More would pass the time limit of the export itself. */
const SKIPS = 3

/** Waits until a collector has something, as `eventually` does, but without the time in which telemetry waits. */
export function arrival(time: PassingTime): typeof eventually {
  return (name, look) => {
    let skips = 0
    return eventually(name, () => {
      if (skips < SKIPS && time.skipTimers(SHARING_MS)) skips++
      return look()
    })
  }
}
