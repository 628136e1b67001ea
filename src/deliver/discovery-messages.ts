import {
  BYTES,
  decodeMessage,
  encodeMessage,
  field,
  INT32,
  type Message,
  type MessageValue,
  map,
  message,
  repeated,
  STRING,
} from '#base/protobuf/message.ts'
import { STRUCT } from '#base/protobuf/struct.ts'
import type { GrpcMethod } from '#net/grpc/grpc-stream.ts'

// Messages of the published service `envoy.service.discovery.v3.AggregatedDiscoveryService`: the fields that we write or read.

export const DELTA_PATH = '/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources'

const NODE = message({ id: field(1, STRING), cluster: field(2, STRING), metadata: field(3, STRUCT) })
const ANY = message({ typeUrl: field(1, STRING), value: field(2, BYTES) })
/** `google.rpc.Status`. */
const STATUS = message({ code: field(1, INT32), message: field(2, STRING) })

const REQUEST = message({
  node: field(1, NODE),
  typeUrl: field(2, STRING),
  subscribe: repeated(3, STRING),
  unsubscribe: repeated(4, STRING),
  initialVersions: map(5, STRING),
  responseNonce: field(6, STRING),
  errorDetail: field(7, STATUS),
})

const RESOURCE = message({ version: field(1, STRING), resource: field(2, ANY), name: field(3, STRING) })

const RESPONSE = message({
  systemVersion: field(1, STRING),
  resources: repeated(2, RESOURCE),
  typeUrl: field(4, STRING),
  nonce: field(5, STRING),
  removed: repeated(6, STRING),
})

/** `DeltaDiscoveryRequest`. */
export type DiscoveryRequest = MessageValue<typeof REQUEST>
/** `DeltaDiscoveryResponse`. */
export type DiscoveryResponse = MessageValue<typeof RESPONSE>
export type DiscoveryResource = MessageValue<typeof RESOURCE>

/** Of one message. A request may list all resources of a proxy with their versions; a response may have one large Secret. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024

/** Of any of these calls. A controller that starts answers when its plan is whole. */
const RESPONSE_MS = 120_000

export const DELTA_METHOD = methodOf(DELTA_PATH)

/** A call to a controller. */
export function methodOf(path: string): GrpcMethod {
  return { path, responseMs: RESPONSE_MS, maxMessageBytes: MAX_MESSAGE_BYTES }
}

/** Of one field. A resource has two, its name and its version, with 70 bytes at least: the limit of the message is reached before. */
const MAX_WORDS = 500_000
/** Names contain up to six names of objects. */
const MAX_WORD = 2048

export function encodeRequest(request: DiscoveryRequest): Uint8Array {
  return encodeMessage(REQUEST, request)
}

export function encodeResponse(response: DiscoveryResponse): Uint8Array {
  return encodeMessage(RESPONSE, response)
}

/** A received message, or why it is refused. The text contains nothing of the message. */
export type Decoded<T> = { readonly message: T } | { readonly fault: string }

export function decodeRequest(bytes: Uint8Array): Decoded<DiscoveryRequest> {
  return decode(REQUEST, 'DeltaDiscoveryRequest', bytes, (request) => ({
    node: [request.node?.id, request.node?.cluster],
    type_url: [request.typeUrl],
    resource_names_subscribe: request.subscribe,
    resource_names_unsubscribe: request.unsubscribe,
    initial_resource_versions: request.initialVersions && [...request.initialVersions].flat(),
    response_nonce: [request.responseNonce],
  }))
}

export function decodeResponse(bytes: Uint8Array): Decoded<DiscoveryResponse> {
  return decode(RESPONSE, 'DeltaDiscoveryResponse', bytes, (response) => ({
    system_version_info: [response.systemVersion],
    resources: response.resources?.flatMap(({ name, version }) => [name, version]),
    type_url: [response.typeUrl],
    nonce: [response.nonce],
    removed_resources: response.removed,
  }))
}

/** The names, versions and other words of a message, by field. */
type Words = Readonly<Record<string, readonly (string | undefined)[] | undefined>>

function decode<T>(type: Message<T>, name: string, bytes: Uint8Array, wordsOf: (message: T) => Words): Decoded<T> {
  if (bytes.length > MAX_MESSAGE_BYTES)
    return { fault: `the message has ${bytes.length} bytes; the limit is ${MAX_MESSAGE_BYTES}` }
  const message = decodeMessage(type, bytes)
  if (message === undefined) return { fault: `the message is not a ${name}` }
  for (const [field, words = []] of Object.entries(wordsOf(message))) {
    if (words.length > MAX_WORDS) return { fault: `${field} has more than ${MAX_WORDS} values` }
    if (words.some((word) => word !== undefined && word.length > MAX_WORD))
      return { fault: `${field} has a value with more than ${MAX_WORD} characters` }
  }
  return { message }
}
