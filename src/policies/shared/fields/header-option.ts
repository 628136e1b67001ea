import { BOOL, BYTES, field, INT32, type MessageValue, message, STRING } from '#base/protobuf/message.ts'

/** A header that a server which a policy asks wants to change (`envoy.config.core.v3.HeaderValueOption`). */
export const HEADER_OPTION = message({
  header: field(1, message({ key: field(1, STRING), value: field(2, STRING), rawValue: field(3, BYTES) })),
  append: field(2, message({ value: field(1, BOOL) })),
  appendAction: field(3, INT32),
})

/** Values of `appendAction`. */
export const ADD_IF_ABSENT = 1
export const OVERWRITE_IF_EXISTS = 3

export type HeaderOption = MessageValue<typeof HEADER_OPTION>
