import {
  BYTES,
  field,
  INT32,
  INT64,
  type MessageValue,
  map,
  message,
  repeated,
  STRING,
  UINT32,
} from '#base/protobuf/message.ts'
import { STRUCT } from '#base/protobuf/struct.ts'
import { HEADER_OPTION } from '../fields/header-option.ts'

// Messages of the published service `envoy.service.auth.v3.Authorization`: the fields that we write or read.

export const CHECK_PATH = '/envoy.service.auth.v3.Authorization/Check'

const SOCKET_ADDRESS = message({ protocol: field(1, INT32), address: field(2, STRING), portValue: field(3, UINT32) })

const PEER = message({
  address: field(1, message({ socketAddress: field(1, SOCKET_ADDRESS) })),
  principal: field(4, STRING),
})

const HTTP_REQUEST = message({
  id: field(1, STRING),
  method: field(2, STRING),
  headers: map(3, STRING),
  path: field(4, STRING),
  host: field(5, STRING),
  scheme: field(6, STRING),
  size: field(9, INT64),
  protocol: field(10, STRING),
  body: field(11, STRING),
  rawBody: field(12, BYTES),
})

const REQUEST = message({
  time: field(1, message({ seconds: field(1, INT64), nanos: field(2, INT32) })),
  http: field(2, HTTP_REQUEST),
})

const ATTRIBUTES = message({
  source: field(1, PEER),
  destination: field(2, PEER),
  request: field(4, REQUEST),
  contextExtensions: map(10, STRING),
  metadataContext: field(11, message({ filterMetadata: map(1, STRUCT) })),
  tlsSession: field(12, message({ sni: field(1, STRING) })),
})

export const CHECK_REQUEST = message({ attributes: field(1, ATTRIBUTES) })

const OK_RESPONSE = message({
  headers: repeated(2, HEADER_OPTION),
  /** Deprecated in favour of that of the whole response. */
  dynamicMetadata: field(3, STRUCT),
  headersToRemove: repeated(5, STRING),
  responseHeadersToAdd: repeated(6, HEADER_OPTION),
  queryParametersToSet: repeated(7, message({ key: field(1, STRING), value: field(2, STRING) })),
  queryParametersToRemove: repeated(8, STRING),
})

const DENIED_RESPONSE = message({
  status: field(1, message({ code: field(1, INT32) })),
  headers: repeated(2, HEADER_OPTION),
  body: field(3, STRING),
})

export const CHECK_RESPONSE = message({
  status: field(1, message({ code: field(1, INT32), message: field(2, STRING) })),
  deniedResponse: field(2, DENIED_RESPONSE),
  okResponse: field(3, OK_RESPONSE),
  dynamicMetadata: field(4, STRUCT),
})

export type OkResponse = MessageValue<typeof OK_RESPONSE>
export type DeniedResponse = MessageValue<typeof DENIED_RESPONSE>
