import type { PlanItem } from '#plan/item.ts'

const REDACTED = '<redacted>'

/** Request headers that carry credentials when somebody sets them in a configuration. */
const CREDENTIAL_HEADERS = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'api-key',
])

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }
type Redactor = (value: Json) => Json

/** By the last two names of a field's path: the fields of the API that hold secrets themselves. */
const SECRET_FIELDS: Readonly<Record<string, Redactor>> = {
  'auth.key': () => REDACTED,
  'basicAuthentication.users': (users) => (Array.isArray(users) ? users.map(hidePassword) : REDACTED),
  'jwks.inline': () => REDACTED,
}

/** The item without the secrets in it, for dumps (decision A-116). What is not secret stays as it is. */
export function redactItem(item: PlanItem): unknown {
  if (item.kind === 'secret') return { ...item, data: redactEntries(item.data) }
  if (item.kind === 'policy') return { ...item, spec: redactField(item.field, item.spec) }
  if (item.kind === 'backend') return { ...item, spec: redactSpec(item.spec) }
  return item
}

/** A value as it stands in an object of the API, without the secrets written in it. */
export function redactSpec(spec: unknown): unknown {
  return redact(spec as Json, '', '')
}

/** The value of one policy field, whose own name counts. */
function redactField(field: string, spec: unknown): unknown {
  return redact(spec as Json, '', field)
}

function redact(value: Json, parent: string, name: string): Json {
  const redactor = SECRET_FIELDS[`${parent}.${name}`]
  if (redactor !== undefined) return redactor(value)
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((element: Json) => redact(element, parent, name))
  const members = Object.entries(value as { readonly [name: string]: Json })
  const redacted = members.map(([key, member]) => [key, redact(member, name, key)] as const)
  return hideHeader(Object.fromEntries(redacted))
}

/** `{ name: authorization, value: ... }` of header modifiers and filters. */
function hideHeader(object: { readonly [name: string]: Json }): Json {
  const { name, value } = object
  if (typeof name !== 'string' || typeof value !== 'string' || !CREDENTIAL_HEADERS.has(name.toLowerCase()))
    return object
  return { ...object, value: REDACTED }
}

/** A line of htpasswd keeps its user. */
function hidePassword(line: Json): Json {
  if (typeof line !== 'string') return REDACTED
  const colon = line.indexOf(':')
  return colon < 0 ? REDACTED : `${line.slice(0, colon)}:${REDACTED}`
}

function redactEntries(data: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(data).map((name) => [name, REDACTED]))
}
