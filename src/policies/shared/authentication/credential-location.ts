import { toByteText, trimSpace } from '#base/byte-text.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Expression } from '#exchange/expression.ts'
import { isFieldName, isFieldValue } from '#net/http/field-syntax.ts'
import type { Head } from '#net/http/head.ts'
import type { CompileContext, PolicyFields, PolicySource, RequestRun } from '../../policy.ts'
import { receivedValues, withReceivedRequest } from '../fields/received-field.ts'
import { queryValues, withoutQueryParameter, withQueryParameter } from '../url/query.ts'
import { cookieValues, removeCookie, setCookie } from './cookies.ts'
import type { ExtractionLocationSpec, InsertionLocationSpec } from './extraction-location.ts'

/** Where a credential is read or written (specification 1, 5.2 and 5.6). */
export type CredentialLocation = WritableLocation | ExpressionLocation

export type WritableLocation = HeaderLocation | QueryLocation | CookieLocation

interface HeaderLocation {
  readonly kind: 'header'
  /** Lower case. */
  readonly name: string
  /** ASCII letters in lower case, without surrounding spaces; empty: the whole value is the credential. */
  readonly prefix: string
  /** The prefix as written. */
  readonly written: string
  /** The prefix is an authentication scheme, so at least one space follows it. */
  readonly isScheme: boolean
}

interface QueryLocation {
  readonly kind: 'queryParameter'
  readonly name: string
}

interface CookieLocation {
  readonly kind: 'cookie'
  readonly name: string
}

interface ExpressionLocation {
  readonly kind: 'expression'
  readonly expression: Expression
}

/** Several different credentials, an invalid one, or one that cannot be read: never treated as absent (decision A-58). */
export const INVALID = Symbol('invalid credential')

/** Byte text; undefined: absent. */
export type Credential = string | typeof INVALID | undefined

/** The `Authorization` header with a scheme: the default of every mechanism. */
export function authorizationHeader(scheme: 'Bearer' | 'Basic'): WritableLocation {
  return headerLocation('authorization', scheme)
}

/** Compiles a location for reading; `path` is the path of `location` in the source. */
export function compileLocation(
  source: PolicySource<unknown>,
  spec: ExtractionLocationSpec,
  context: CompileContext,
): CredentialLocation {
  if (spec.expression === undefined) return compileWritableLocation(spec)
  const message =
    'the gateway cannot remove a credential that an expression found; the backend receives it, unless headerModifiers remove its header'
  context.report(source, '.location.expression', { severity: 'warning', code: 'credential-not-removed', message })
  const expression = context.expression(source, '.location.expression', spec.expression, 'request')
  return { kind: 'expression', expression }
}

/** Compiles a location for writing. The schema ensures that exactly one is set. */
export function compileWritableLocation(spec: InsertionLocationSpec): WritableLocation {
  if (spec.header !== undefined) return headerLocation(spec.header.name, spec.header.prefix ?? '')
  if (spec.queryParameter !== undefined) return { kind: 'queryParameter', name: spec.queryParameter.name }
  return { kind: 'cookie', name: toByteText(spec.cookie?.name ?? '') }
}

/** `Bearer` and `Bearer ` are equivalent (decision A-58); a prefix such as `sk-` is literal. */
function headerLocation(name: string, prefix: string): HeaderLocation {
  const lowerName = name.toLowerCase()
  const written = trimSpace(toByteText(prefix))
  const inSchemeHeader = lowerName === 'authorization' || lowerName === 'proxy-authorization'
  const isScheme = /[0-9A-Za-z]$/.test(written) && (inSchemeHeader || prefix.endsWith(' '))
  const folded = written.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
  return { kind: 'header', name: lowerName, prefix: folded, written, isScheme }
}

/** Reads the credential of the request as received, before other policies removed or changed it (decision A-59). */
export function readCredential(location: CredentialLocation, exchange: Exchange): Credential {
  switch (location.kind) {
    case 'header':
      return fromHeader(location, receivedValues(exchange.request, location.name))
    case 'queryParameter':
      return onlyOne(queryValues(exchange.originalTarget, location.name))
    case 'cookie':
      return onlyOne(cookieValues(receivedValues(exchange.request, 'cookie'), location.name))
    case 'expression':
      return withReceivedRequest(exchange, () => fromExpression(location.expression, exchange))
  }
}

/** What reading and removing a credential at the location uses of a request. */
export function usesOf(location: CredentialLocation): Pick<RequestRun, 'fields' | 'credentialParameters'> {
  const fields = fieldsAt(location)
  return location.kind === 'queryParameter' ? { fields, credentialParameters: [location.name] } : { fields }
}

/** Headers that reading, removing or writing a credential at the location uses. */
export function fieldsAt(location: CredentialLocation): PolicyFields {
  if (location.kind === 'header') return { request: [location.name] }
  return { request: location.kind === 'cookie' ? ['cookie'] : [] }
}

/** Removes the credential from the request: the whole header, the parameter, the cookie. */
export function removeCredential(location: CredentialLocation, head: Head): void {
  if (location.kind === 'header') head.remove(location.name)
  else if (location.kind === 'queryParameter') head.target = withoutQueryParameter(head.target, location.name)
  else if (location.kind === 'cookie') removeCookie(head, location.name)
}

/**
 * Writes a credential (byte text), replacing the previous value; a prefix that the credential already has is not doubled.
 * @returns false if the location cannot hold the credential; the request is then unchanged
 */
export function writeCredential(location: WritableLocation, head: Head, credential: string): boolean {
  if (!canHold(location, credential)) return false
  if (location.kind === 'header') head.set(location.name, withPrefix(location, credential))
  else if (location.kind === 'queryParameter') {
    head.target = withQueryParameter(head.target, location.name, credential)
  } else setCookie(head, location.name, credential)
  return true
}

/** Whether a location can hold a credential without changing the rest of the request. */
export function canHold(location: WritableLocation, credential: string): boolean {
  if (location.kind === 'queryParameter') return true
  if (location.kind === 'header') return isFieldValue(withPrefix(location, credential))
  return isFieldName(location.name) && isFieldValue(credential) && !/[ \t;]/.test(credential)
}

function withPrefix(location: HeaderLocation, credential: string): string {
  const { prefix, written, isScheme } = location
  const start = isScheme ? `${prefix} ` : prefix
  if (startsWithFolded(credential, start)) return credential
  return isScheme ? `${written} ${credential}` : `${written}${credential}`
}

function fromHeader(location: HeaderLocation, values: readonly string[]): Credential {
  if (values.length === 1) return afterPrefix(location, values[0]!) || undefined
  return onlyOne(values.map((value) => afterPrefix(location, value)))
}

/** Undefined for another scheme: such a value is not a credential of this mechanism. */
function afterPrefix(location: HeaderLocation, value: string): string | undefined {
  const { prefix, isScheme } = location
  if (!startsWithFolded(value, prefix)) return undefined
  if (isScheme && value.charCodeAt(prefix.length) !== SPACE) return undefined
  return trimSpace(value.slice(prefix.length))
}

const SPACE = 32

/** Whether `value` begins with `prefix`, in any case of the ASCII letters, which are in lower case in `prefix`. */
function startsWithFolded(value: string, prefix: string): boolean {
  for (let i = 0; i < prefix.length; i++) {
    const wanted = prefix.charCodeAt(i)
    const given = value.charCodeAt(i)
    if (given !== wanted && (given < UPPER_A || given > UPPER_Z || given + CASE !== wanted)) return false
  }
  return true
}

const UPPER_A = 65
const UPPER_Z = 90
/** Distance of a lower-case letter from its upper-case one. */
const CASE = 32

/** Empty counts as absent; equal repetitions count as one. */
function onlyOne(found: readonly (string | undefined)[]): Credential {
  let only: string | undefined
  for (const value of found) {
    if (value === undefined || value === '' || value === only) continue
    if (only !== undefined) return INVALID
    only = value
  }
  return only
}

/** An expression that does not compile finds no credential in any request, so it must not count as absent: `Optional` would let all pass. */
function fromExpression(expression: Expression, exchange: Exchange): Credential {
  if (expression.broken) return INVALID
  const text = expression.text(exchange)
  if (text !== undefined) return text === '' ? undefined : toByteText(text)
  const value = expression.json(exchange)
  return value === undefined || value === null ? undefined : INVALID
}
