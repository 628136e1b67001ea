import type { JsonObject } from '#base/json.ts'
import type { RequestMessage } from './json-rpc.ts'

/** The header fields that repeat parts of a request (revision 2026-07-28, "Request Headers"). */
export interface RequestHeaders {
  readonly method: string
  /** Undefined: the method names no item. */
  readonly name: string | undefined
}

export function headersOf(message: Pick<RequestMessage, 'method' | 'params'>): RequestHeaders {
  return { method: message.method, name: nameOfRequest(message) }
}

/** The value of `Mcp-Name` for a request; undefined: it needs none. */
export function nameOfRequest({ method, params }: Pick<RequestMessage, 'method' | 'params'>): string | undefined {
  const member = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined
  const name = member === undefined ? undefined : (params as JsonObject | undefined)?.[member]
  return typeof name === 'string' ? name : undefined
}

const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

/** Text that a field value cannot contain, or that looks encoded, is base64 of its UTF-8: `=?base64?...?=`. */
export function encodeHeader(text: string): string {
  const isPlain = /^[!-~](?:[ -~]*[!-~])?$/.test(text) && !ENCODED.test(text)
  if (isPlain) return text
  const bytes = new TextEncoder().encode(text)
  return `=?base64?${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))}?=`
}

/** @returns undefined for text that claims to be encoded and is not */
export function decodeHeader(value: string): string | undefined {
  const encoded = ENCODED.exec(value)?.[1]
  if (encoded === undefined) return value
  try {
    const bytes = Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const ENCODED = /^=\?base64\?(.*)\?=$/
