import { numberIn } from '#base/exact-json.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Expression } from '#exchange/expression.ts'
import { fieldName } from '#net/http/field-name.ts'
import { type FieldValue, isAuthority, isMethod, isTarget } from '#net/http/field-syntax.ts'
import type { Head } from '#net/http/head.ts'
import { fieldText } from './field-text.ts'

/** Changes one field or pseudo-header of a message; `head` is that message's. */
export type FieldEdit = (exchange: Exchange, head: Head) => void

/** Sets a header. If the expression fails, the header is removed, so that a client cannot choose the value (decision A-89). */
export function setField(name: string, value: Expression): FieldEdit {
  const field = fieldName(name)
  return (exchange, head) => {
    const text = textOf(value, exchange)
    if (text === undefined) head.remove(field.text)
    else head.setValid(field, text)
  }
}

/** Adds a header value. If the expression fails, the header is removed, as with `set`. */
export function addField(name: string, value: Expression): FieldEdit {
  const field = fieldName(name)
  return (exchange, head) => {
    const text = textOf(value, exchange)
    if (text === undefined) head.remove(field.text)
    else head.appendValid(field, text)
  }
}

export function removeField(name: string): FieldEdit {
  return (_, head) => head.remove(name)
}

/** Pseudo-headers of requests, and `host`, which is `:authority`. An invalid value changes nothing. */
export const REQUEST_PSEUDO: Readonly<Record<string, (value: Expression) => FieldEdit>> = {
  ':method': (value) => (exchange, head) => {
    const method = value.text(exchange)
    // CONNECT is refused: it would turn the request into a tunnel.
    if (method !== undefined && isMethod(method) && method !== 'CONNECT') head.method = method
  },
  ':scheme': (value) => (exchange) => {
    const scheme = value.text(exchange)
    if (scheme === 'http' || scheme === 'https') exchange.scheme = scheme
  },
  ':authority': setAuthority,
  host: setAuthority,
  ':path': (value) => (exchange, head) => {
    const target = value.text(exchange)
    if (target?.startsWith('/') && isTarget(target)) head.target = target
  },
}

/** A refusal keeps its status (docs/behaviour/http.md, "Response policies"). */
export const RESPONSE_PSEUDO: Readonly<Record<string, (value: Expression) => FieldEdit>> = {
  ':status': (value) => (exchange, head) => {
    if (exchange.responseIsRefusal) return
    const status = numberIn(value.json(exchange))
    if (status !== undefined && Number.isInteger(status) && status >= 200 && status <= 599) head.status = status
  },
}

/** Setting the host disables the automatic rewrite (decision A-91). */
function setAuthority(value: Expression): FieldEdit {
  return (exchange, head) => {
    const authority = value.text(exchange)
    if (authority === undefined || !isAuthority(authority)) return
    head.authority = authority
    exchange.hostRewritten = true
  }
}

function textOf(value: Expression, exchange: Exchange): FieldValue | undefined {
  const text = value.text(exchange)
  return text === undefined ? undefined : fieldText(text)
}
