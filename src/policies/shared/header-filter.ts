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
  value: required(text({ min: 1, max: 4096 }), 'Its value.'),
})

/** The platform's HTTPHeaderFilter: fixed changes to headers. */
export const httpHeaderFilter = object({
  set: optional(listMap('name', httpHeader, { max: 16 }), 'Headers to set, replacing what is there.'),
  add: optional(listMap('name', httpHeader, { max: 16 }), 'Headers to add to what is there.'),
  remove: optional(setOf(text(), { max: 16 }), 'Headers to remove.'),
})

/** The platform's HTTPHeaderMatch. */
export const httpHeaderMatch = object({
  type: defaulted(enumOf('Exact', 'RegularExpression'), 'Exact', 'How the value is compared.'),
  name: required(httpHeaderName(), 'Name of the header, compared without regard to case.'),
  value: required(text({ min: 1, max: 4096 }), 'The value or regular expression to compare with.'),
})

export type HttpHeaderFilterSpec = Parsed<typeof httpHeaderFilter>
export type HttpHeaderMatchSpec = Parsed<typeof httpHeaderMatch>
