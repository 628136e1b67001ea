import {
  boolean,
  type ConfigProblem,
  defaulted,
  described,
  enumOf,
  fieldPath,
  formattedText,
  integer,
  object,
  optional,
  type Parsed,
  problem,
  type ScalarRefusal,
  setOf,
  withRule,
} from '#schema/index.ts'

const ORIGIN = /^https?:\/\/(?:\*|(?:\*\.)?[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/

const ORIGIN_OR_ANY = new RegExp(`^\\*$|${ORIGIN.source}`)

function checkOrigin(value: string): ScalarRefusal | undefined {
  if (ORIGIN_OR_ANY.test(value)) return undefined
  const message =
    'must be "*" or <scheme>://<host>(:<port>) with scheme http or https; a leading "*." in the host is allowed'
  return { code: 'invalid-origin', message }
}

const HEADER = /^(\*|[!#$%&'*+.^_`|~0-9A-Za-z-]+)$/

function checkHeader(value: string): ScalarRefusal | undefined {
  return HEADER.test(value) ? undefined : { code: 'invalid-header-name', message: 'must be a header name or "*"' }
}

const headerList = () => setOf(formattedText({ min: 1, max: 256, pattern: HEADER }, checkHeader), { max: 64 })

const LISTS = ['allowOrigins', 'allowMethods', 'allowHeaders'] as const

type Lists = { readonly [K in (typeof LISTS)[number]]?: readonly string[] }

function checkWildcardAlone(spec: Lists, path: string): readonly ConfigProblem[] {
  return LISTS.flatMap((name) => {
    const items = spec[name] ?? []
    if (items.length < 2 || !items.includes('*')) return []
    return [problem(fieldPath(path, name), 'not-together', `${name} cannot contain both "*" and other values`)]
  })
}

/** `traffic.cors`: the fields of the platform's CORS filter. */
export const trafficCors = described(
  'Cross-origin resource sharing (CORS).',
  withRule(
    object({
      allowOrigins: optional(
        setOf(formattedText({ min: 1, max: 253, pattern: ORIGIN_OR_ANY }, checkOrigin), { max: 64 }),
        'Origins that may read responses: "*" or <scheme>://<host>(:<port>). A leading "*." in the host is allowed.',
      ),
      allowCredentials: optional(boolean(), 'Whether requests may include credentials. When unset, they may not.'),
      allowMethods: optional(
        setOf(enumOf('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH', '*'), { max: 9 }),
        'Allowed methods.',
      ),
      allowHeaders: optional(headerList(), 'Allowed request headers.'),
      exposeHeaders: optional(headerList(), 'Response headers that scripts may read.'),
      maxAge: defaulted(integer({ min: 1 }), 5, 'Seconds for which a browser may cache a preflight response.'),
    }),
    {
      reads: LISTS,
      description: 'A list with "*" cannot have other values.',
      check: checkWildcardAlone,
      onServer: LISTS.map(
        (name) => `(!has(self.${name}) || self.${name}.size() < 2 || !self.${name}.exists(value, value == '*'))`,
      ).join(' && '),
    },
  ),
)

export type CorsSpec = Parsed<typeof trafficCors>
