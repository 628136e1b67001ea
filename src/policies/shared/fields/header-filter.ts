import {
  type ConfigProblem,
  checkPattern,
  defaulted,
  enumOf,
  fieldPath,
  httpHeaderName,
  listMap,
  object,
  optional,
  type Parsed,
  problem,
  required,
  setOf,
  text,
  withRule,
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
export const httpHeaderMatch = withRule(
  object({
    type: defaulted(enumOf('Exact', 'RegularExpression'), 'Exact', 'How the value is matched.'),
    name: required(httpHeaderName(), 'Name of the header, compared case-insensitively.'),
    value: required(text({ min: 1, max: 4096 }), 'Value or regular expression to match.'),
  }),
  {
    reads: ['type', 'value'],
    description: 'A value of type RegularExpression is in RE2 syntax.',
    check({ type, value }: { readonly type?: string; readonly value: string }, path): readonly ConfigProblem[] {
      const refusal = type === 'RegularExpression' ? checkPattern(value) : undefined
      return refusal === undefined ? [] : [problem(fieldPath(path, 'value'), refusal.code, refusal.message)]
    },
  },
)

export type HttpHeaderFilterSpec = Parsed<typeof httpHeaderFilter>
export type HttpHeaderMatchSpec = Parsed<typeof httpHeaderMatch>
