import type { TBoolean, TEnum, TInteger, TLiteral, TNumber, TString, TUnknown, TUnsafe } from 'typebox'
import { parseByteSize } from '#base/byte-size.ts'
import { parseDuration } from '#base/duration.ts'
import { build } from './build.ts'
import type { ScalarName, ScalarRefusal } from './node.ts'

/** A scalar refusal when the text does not match; the pattern also goes into generated JSON Schema. */
function matching(pattern: RegExp, code: ScalarRefusal['code'], message: string) {
  return (value: string | number): ScalarRefusal | undefined =>
    pattern.test(String(value)) ? undefined : { code, message }
}

interface TextBounds {
  readonly min?: number
  readonly max?: number
}

/** Free text; bounds count code points. */
export function text({ min, max }: TextBounds = {}): TString {
  return build({
    type: 'string',
    ...(min === undefined ? {} : { minLength: min }),
    ...(max === undefined ? {} : { maxLength: max }),
  })
}

function namedText(scalar: ScalarName, min: number, max: number, more: object = {}): TString {
  return build({ type: 'string', scalar, minLength: min, maxLength: max, ...more })
}

/** 1 to 256 characters. */
export const shortString = (): TString => namedText('ShortString', 1, 256)
/** 1 to 64 characters. */
export const tinyString = (): TString => namedText('TinyString', 1, 64)
/** 1 to 1024 characters. */
export const longString = (): TString => namedText('LongString', 1, 1024)

/** A CEL expression. The schema checks only its length; syntax and types are checked at translation (decision A-10). */
export const celExpression = (): TString => namedText('CELExpression', 1, 16_384)

const MAX_ALPN_BYTES = 255

/** A TinyString that names a protocol of ALPN (RFC 7301, 3.1). Its characters may have several bytes each. */
export function alpnProtocol(): TString {
  const check = (value: string | number): ScalarRefusal | undefined => {
    const bytes = new TextEncoder().encode(String(value)).length
    if (bytes <= MAX_ALPN_BYTES) return undefined
    return { code: 'too-long', message: `must have at most ${MAX_ALPN_BYTES} bytes; it has ${bytes}` }
  }
  const message = `must have at most ${MAX_ALPN_BYTES} bytes`
  return namedText('TinyString', 1, 64, {
    check,
    onServer: { rule: `size(bytes(self)) <= ${MAX_ALPN_BYTES}`, message },
  })
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"

/** A header name with the token characters of RFC 9110; no pseudo-headers. */
export function httpHeaderName(): TString {
  const pattern = `^${TOKEN}$`
  const message =
    'must be a header name: letters, digits and the other token characters of RFC 9110, no spaces, no colon'
  return namedText('HTTPHeaderName', 1, 256, {
    pattern,
    check: matching(new RegExp(pattern), 'invalid-header-name', message),
  })
}

const PSEUDO_HEADERS = [':authority', ':method', ':path', ':scheme', ':status']

/** A header name, or one of the five pseudo-headers (decision A-06). */
export function headerName(): TString {
  const name = new RegExp(`^${TOKEN}$`)
  const check = (value: string | number): ScalarRefusal | undefined => {
    const given = String(value)
    if (PSEUDO_HEADERS.includes(given) || name.test(given)) return undefined
    const message = given.startsWith(':')
      ? `pseudo-headers must be one of ${PSEUDO_HEADERS.join(', ')}`
      : 'must be a header name: letters, digits and the other token characters of RFC 9110, no spaces'
    return { code: 'invalid-header-name', message }
  }
  return namedText('HeaderName', 1, 256, { pattern: `^(?:${PSEUDO_HEADERS.join('|')}|${TOKEN})$`, check })
}

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`

function subdomain(code: ScalarRefusal['code'], message: string) {
  const pattern = `^${SUBDOMAIN}$`
  return { pattern, check: matching(new RegExp(pattern), code, message) }
}

/** A server name for TLS: lower-case DNS labels separated by dots. */
export function sni(): TString {
  const message = 'must be lower-case DNS labels separated by dots, such as "api.example.com"'
  return namedText('SNI', 1, 253, subdomain('invalid-server-name', message))
}

/** The name of a listener, route rule, provider, target, or a port number. */
export function sectionName(): TString {
  const message = 'must be lower-case letters, digits, "-" and ".", starting and ending with a letter or digit'
  return namedText('SectionName', 1, 253, subdomain('invalid-section-name', message))
}

/** The name of an object: a DNS subdomain (decision A-01). */
export function objectName(): TString {
  const message = 'must be lower-case letters, digits, "-" and ".", starting and ending with a letter or digit'
  return build({ type: 'string', minLength: 1, maxLength: 253, ...subdomain('invalid-name', message) })
}

/** The name of an object in a reference of a Gateway API kind, which has no pattern: a name that no object can have stays unresolved. */
export const referencedName = (): TString => text({ min: 1, max: 253 })

/** A namespace: a DNS label (decision A-01). */
export function namespaceName(): TString {
  const pattern = `^${LABEL}$`
  const message = 'must be lower-case letters, digits and "-", starting and ending with a letter or digit'
  return build({
    type: 'string',
    minLength: 1,
    maxLength: 63,
    pattern,
    check: matching(new RegExp(pattern), 'invalid-namespace', message),
  })
}

/** The group in a reference: empty for the core group, else a DNS subdomain. */
export function groupName(): TString {
  const pattern = `^$|^${SUBDOMAIN}$`
  const message = 'must be an API group such as "gateway.networking.k8s.io", or empty for the core group'
  return build({
    type: 'string',
    maxLength: 253,
    pattern,
    check: matching(new RegExp(pattern), 'invalid-name', message),
  })
}

/** The kind in a reference. */
export function kindName(): TString {
  const pattern = '^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$'
  const message = 'must be the name of a kind such as "Service"'
  return build({
    type: 'string',
    minLength: 1,
    maxLength: 63,
    pattern,
    check: matching(new RegExp(pattern), 'invalid-name', message),
  })
}

interface DurationBounds {
  /** The minimum, in the same text form. */
  readonly min?: string
}

const DURATION = '^([0-9]{1,5}(h|m|s|ms)){1,4}$'

const NO_DURATION = 'must be a duration such as "3s", "5m" or "1h30m": up to four groups of digits and h, m, s or ms'

/** Gateway API duration text; returned as written, read with `parseDuration`. */
export function duration({ min }: DurationBounds = {}): TString {
  const leastMs = min === undefined ? 0 : parseDuration(min)!
  const message = `must be at least ${min}`
  const check = (value: string | number): ScalarRefusal | undefined => {
    const ms = parseDuration(String(value))
    if (ms === undefined) return { code: 'invalid-duration', message: NO_DURATION }
    return ms < leastMs ? { code: 'out-of-range', message } : undefined
  }
  const onServer = { rule: `duration(self) >= duration('${min}')`, message }
  const least = min === undefined ? {} : { minimumDuration: min, onServer }
  return build({ type: 'string', scalar: 'Duration', pattern: DURATION, ...least, check })
}

/** A duration or an expression that yields one; every text that is not a duration is an expression. */
export const durationOrCel = (): TString => namedText('DurationOrCEL', 1, 16_384)

interface ByteSizeBounds {
  readonly min?: number
  readonly max?: number
}

/** A number of bytes, as an integer or a quantity such as `16Ki`; read with `parseByteSize`. */
export function byteSize({ min = 1, max = 4_294_967_295 }: ByteSizeBounds = {}): TUnsafe<string | number> {
  const message = `must be at least ${min} and at most ${max} bytes`
  const check = (value: string | number): ScalarRefusal | undefined => {
    if (typeof value === 'string' && (!QUANTITY.test(value) || value.startsWith('+'))) {
      return { code: 'invalid-byte-size', message: 'must be a number of bytes such as 65536, "64Ki" or "2Mi"' }
    }
    const bytes = parseByteSize(value)
    if (bytes !== undefined && bytes >= min && bytes <= max) return undefined
    return { code: 'out-of-range', message }
  }
  // Fractions are rounded up.
  const tooSmall = `!quantity(self).isGreaterThan(quantity('${min - 1}'))`
  const tooLarge = `quantity(self).isGreaterThan(quantity('${max}'))`
  const onServer = { rule: `type(self) == int || !(${tooSmall} || ${tooLarge})`, message }
  const bounds = { minimum: min, maximum: max, minLength: 1, maxLength: 32 }
  return build({
    scalar: 'ByteSize',
    intOrString: true,
    pattern: QUANTITY.source.replace('[+-]?', ''),
    ...bounds,
    check,
    onServer,
  })
}

const QUANTITY = /^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+|[KMGTPE]i|[numkMGTPE])?$/

/** A Kubernetes quantity (cpu, memory); kept as written. */
export function quantity(): TUnsafe<string | number> {
  const message = 'must be a quantity such as 1, "500m" or "128Mi"'
  return build({
    scalar: 'Quantity',
    intOrString: true,
    pattern: QUANTITY.source,
    check: matching(QUANTITY, 'invalid-quantity', message),
  })
}

/** An integer or a name. */
export const intOrString = (): TUnsafe<string | number> => build({ intOrString: true })

interface NumberBounds {
  readonly min?: number
  readonly max?: number
}

/** An integer. */
export function integer({ min, max }: NumberBounds = {}): TInteger {
  return build({
    type: 'integer',
    ...(min === undefined ? {} : { minimum: min }),
    ...(max === undefined ? {} : { maximum: max }),
  })
}

/** A number that may have a fraction. */
export function number({ min, max }: NumberBounds = {}): TNumber {
  return build({
    type: 'number',
    ...(min === undefined ? {} : { minimum: min }),
    ...(max === undefined ? {} : { maximum: max }),
  })
}

export const boolean = (): TBoolean => build({ type: 'boolean' })

/** A port number. */
export const port = (): TInteger => integer({ min: 1, max: 65_535 })

/** One of a fixed set of values, case-sensitive. */
export function enumOf<const Values extends readonly string[]>(...values: Values): TEnum<[...Values]> {
  return build({ type: 'string', enum: values })
}

/** Exactly this text. */
export function literal<const Value extends string>(value: Value): TLiteral<Value> {
  return build({ type: 'string', const: value })
}

/** Any JSON value; null counts as a value. */
export const json = (): TUnknown => build({ scalar: 'JSON' })

/**
 * Text with a format that is specific to this field.
 * @param bounds its pattern is what a schema can say of the format
 */
export function formattedText(
  { pattern, ...bounds }: TextBounds & { readonly pattern?: RegExp },
  check: (value: string) => ScalarRefusal | undefined,
): TString {
  return Object.assign(text(bounds), { check }, pattern === undefined ? {} : { pattern: pattern.source })
}
