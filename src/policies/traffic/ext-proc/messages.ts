import {
  BOOL,
  BYTES,
  field,
  INT32,
  type MessageValue,
  message,
  repeated,
  STRING,
  UINT32,
} from '#base/protobuf/message.ts'
import { STRUCT } from '#base/protobuf/struct.ts'
import { HEADER_OPTION } from '../../shared/fields/header-option.ts'

// Messages of the published service `envoy.service.ext_proc.v3.ExternalProcessor`: the fields that we write or read.

export const PROCESS_PATH = '/envoy.service.ext_proc.v3.ExternalProcessor/Process'

// Values of `ProcessingMode.HeaderSendMode`; 0 is no change.
export const HEADER_SEND = 1
export const HEADER_SKIP = 2

// Values of `ProcessingMode.BodySendMode`.
export const BODY_NONE = 0
export const BODY_STREAMED = 1
export const BODY_BUFFERED = 2
export const BODY_BUFFERED_PARTIAL = 3
export const BODY_FULL_DUPLEX_STREAMED = 4

/** Value of `CommonResponse.status`. */
export const CONTINUE_AND_REPLACE = 1

const HEADER_MAP = message({
  headers: repeated(1, message({ key: field(1, STRING), value: field(2, STRING), rawValue: field(3, BYTES) })),
})
const HTTP_HEADERS = message({ headers: field(1, HEADER_MAP), endOfStream: field(3, BOOL) })
const HTTP_BODY = message({ body: field(1, BYTES), endOfStream: field(2, BOOL) })
const HTTP_TRAILERS = message({ trailers: field(1, HEADER_MAP) })
const PROTOCOL_CONFIGURATION = message({
  requestBodyMode: field(1, INT32),
  responseBodyMode: field(2, INT32),
  sendBodyWithoutWaitingForHeaderResponse: field(3, BOOL),
})

/** Exactly one of the first six is set. */
export const PROCESSING_REQUEST = message({
  requestHeaders: field(2, HTTP_HEADERS),
  responseHeaders: field(3, HTTP_HEADERS),
  requestBody: field(4, HTTP_BODY),
  responseBody: field(5, HTTP_BODY),
  requestTrailers: field(6, HTTP_TRAILERS),
  responseTrailers: field(7, HTTP_TRAILERS),
  protocolConfig: field(11, PROTOCOL_CONFIGURATION),
})

const HEADER_MUTATION = message({ setHeaders: repeated(1, HEADER_OPTION), removeHeaders: repeated(2, STRING) })
const BODY_MUTATION = message({
  body: field(1, BYTES),
  clearBody: field(2, BOOL),
  streamedResponse: field(3, HTTP_BODY),
})
const COMMON_RESPONSE = message({
  status: field(1, INT32),
  headerMutation: field(2, HEADER_MUTATION),
  bodyMutation: field(3, BODY_MUTATION),
})
const PART_RESPONSE = message({ response: field(1, COMMON_RESPONSE) })
const TRAILERS_RESPONSE = message({ headerMutation: field(1, HEADER_MUTATION) })
const IMMEDIATE_RESPONSE = message({
  status: field(1, message({ code: field(1, INT32) })),
  headers: field(2, HEADER_MUTATION),
  body: field(3, BYTES),
  grpcStatus: field(4, message({ status: field(1, UINT32) })),
  details: field(5, STRING),
})
const PROCESSING_MODE = message({
  responseHeaderMode: field(2, INT32),
  requestBodyMode: field(3, INT32),
  responseBodyMode: field(4, INT32),
  requestTrailerMode: field(5, INT32),
  responseTrailerMode: field(6, INT32),
})

/** Exactly one of the first seven is set. */
export const PROCESSING_RESPONSE = message({
  requestHeaders: field(1, PART_RESPONSE),
  responseHeaders: field(2, PART_RESPONSE),
  requestBody: field(3, PART_RESPONSE),
  responseBody: field(4, PART_RESPONSE),
  requestTrailers: field(5, TRAILERS_RESPONSE),
  responseTrailers: field(6, TRAILERS_RESPONSE),
  immediateResponse: field(7, IMMEDIATE_RESPONSE),
  dynamicMetadata: field(8, STRUCT),
  modeOverride: field(9, PROCESSING_MODE),
  overrideMessageTimeout: field(10, message({})),
})

export type ProcessingRequest = MessageValue<typeof PROCESSING_REQUEST>
export type ProcessingResponse = MessageValue<typeof PROCESSING_RESPONSE>
export type HeaderFields = MessageValue<typeof HEADER_MAP>
export type HeaderMutation = MessageValue<typeof HEADER_MUTATION>
export type BodyMutation = MessageValue<typeof BODY_MUTATION>
export type CommonResponse = MessageValue<typeof COMMON_RESPONSE>
export type ImmediateResponse = MessageValue<typeof IMMEDIATE_RESPONSE>
export type ProcessingMode = MessageValue<typeof PROCESSING_MODE>
