import {
  defaulted,
  enumOf,
  httpHeaderName,
  listMap,
  object,
  optional,
  type Parsed,
  required,
  setOf,
  text,
} from '#schema/index.ts'

const httpHeader = object({
  name: required(httpHeaderName(), 'Name of the header.'),
  value: required(text({ min: 1, max: 4096 }), 'Value of the header.'),
})

/** The platform's HTTPHeaderFilter: fixed changes to headers. */
export const httpHeaderFilter = object({
  set: optional(listMap('name', httpHeader, { max: 16 }), 'Headers to set. They replace existing values.'),
  add: optional(listMap('name', httpHeader, { max: 16 }), 'Headers to add to existing values.'),
  remove: optional(setOf(text(), { max: 16 }), 'Headers to remove.'),
})

/** The platform's HTTPHeaderMatch. */
export const httpHeaderMatch = object({
  type: defaulted(enumOf('Exact', 'RegularExpression'), 'Exact', 'How the value is matched.'),
  name: required(httpHeaderName(), 'Name of the header, compared case-insensitively.'),
  value: required(text({ min: 1, max: 4096 }), 'Value or regular expression to match.'),
})

export type HttpHeaderFilterSpec = Parsed<typeof httpHeaderFilter>
export type HttpHeaderMatchSpec = Parsed<typeof httpHeaderMatch>
