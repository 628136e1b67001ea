import { BYTES, field, INT32, INT64, message, repeated, STRING, UINT32, type ValueOf } from '#base/protobuf/message.ts'

// Messages of the published service `envoy.service.ratelimit.v3.RateLimitService`: the fields that we write or read.

export const LIMIT_PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'

/** `hitsAddend` is a wrapper, because 0 (only ask) differs from unset (one hit). */
const DESCRIPTOR_FIELDS = {
  entries: repeated(1, message({ key: field(1, STRING), value: field(2, STRING) })),
  hitsAddend: field(3, message({ value: field(1, INT64) })),
} as const

export const RATE_LIMIT_REQUEST = message({
  domain: field(1, STRING),
  descriptors: repeated(2, message(DESCRIPTOR_FIELDS)),
})

/** What is asked about one rule. */
export type LimitDescriptor = ValueOf<typeof DESCRIPTOR_FIELDS>

const HEADER_FIELDS = { key: field(1, STRING), value: field(2, STRING), rawValue: field(3, BYTES) } as const

const STATUS_FIELDS = {
  code: field(1, INT32),
  currentLimit: field(2, message({ requestsPerUnit: field(1, UINT32), unit: field(2, INT32) })),
  limitRemaining: field(3, UINT32),
  durationUntilReset: field(4, message({ seconds: field(1, INT64) })),
} as const

const RESPONSE_FIELDS = {
  overallCode: field(1, INT32),
  statuses: repeated(2, message(STATUS_FIELDS)),
  responseHeadersToAdd: repeated(3, message(HEADER_FIELDS)),
  requestHeadersToAdd: repeated(4, message(HEADER_FIELDS)),
  rawBody: field(5, BYTES),
} as const

export const RATE_LIMIT_RESPONSE = message(RESPONSE_FIELDS)

export type LimitResponse = ValueOf<typeof RESPONSE_FIELDS>
export type LimitStatus = ValueOf<typeof STATUS_FIELDS>

/** Values of `overallCode` and `code`. */
export const WITHIN_LIMITS = 1
export const OVER_LIMIT = 2

/** Of `unit`; 0 is unknown. */
export const LIMIT_UNITS = [undefined, 'second', 'minute', 'hour', 'day', 'month', 'year', 'week'] as const
