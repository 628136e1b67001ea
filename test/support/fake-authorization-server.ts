import { type Call, CallError, type CallFailure, type CallRequest, type CallResponse } from '#exchange/call.ts'
import { frameMessage } from '#net/grpc/message-frame.ts'
import { envoyService } from './envoy-definitions.ts'

/** What a test's authorization server answers. */
export type Reply =
  /** A CheckResponse, as `protobufjs` reads it from an object. */
  | { readonly check: object }
  | { readonly failure: CallFailure; readonly detail?: string }
  | {
      readonly status: number
      readonly headers?: readonly (readonly [name: string, value: string])[]
      readonly body?: string | Uint8Array
      /** The body breaks off. */
      readonly breaks?: true
    }

/** The published definition, read by another implementation than ours. */
const { Check } = envoyService('envoy/service/auth/v3/external_auth.proto', 'envoy.service.auth.v3.Authorization')

export interface FakeServer {
  readonly call: Call
  readonly requests: readonly CallRequest[]
  readonly destinations: readonly string[]
  /** The CheckRequests, as `protobufjs` reads them. */
  readonly checks: readonly unknown[]
}

/** An authorization server in memory. */
export function fakeServer(reply: (request: CallRequest) => Reply | Promise<Reply>): FakeServer {
  const requests: CallRequest[] = []
  const destinations: string[] = []
  const checks: unknown[] = []
  const call: Call = async (destination, request) => {
    requests.push(request)
    destinations.push(destination)
    const { protocol, body } = request
    if (protocol === 'grpc') checks.push(Check!.requestDeserialize(Buffer.from((body as Uint8Array).subarray(5))))
    const said = await reply(request)
    if ('failure' in said) throw new CallError(said.failure, said.detail)
    return 'check' in said ? grpcResponse(said.check) : httpResponse(said)
  }
  return { call, requests, destinations, checks }
}

function grpcResponse(check: object): CallResponse {
  const framed = frameMessage(Check!.responseSerialize(check))
  return responseOf(200, [['content-type', 'application/grpc']], [framed], { 'grpc-status': '0' })
}

function httpResponse({ status, headers = [], body = '', breaks }: Extract<Reply, { status: number }>): CallResponse {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  return responseOf(status, headers, breaks === undefined ? [bytes] : [bytes, new CallError('reset')], {})
}

function responseOf(
  status: number,
  headers: CallResponse['headers'],
  pieces: readonly (Uint8Array | CallError)[],
  trailers: Readonly<Record<string, string>>,
): CallResponse {
  async function* body() {
    for (const piece of pieces) {
      if (piece instanceof CallError) throw piece
      yield piece
    }
  }
  return {
    status,
    headers,
    header: (name) => headers.find(([one]) => one === name)?.[1],
    endpoint: '127.0.0.1:80',
    trailer: (name) => trailers[name],
    body: body(),
  }
}
