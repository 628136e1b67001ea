import { trimSpace } from '#base/byte-text.ts'
import { foldCase } from '#base/fold-case.ts'
import { findAmbiguousMember, shapeOf } from '#base/json-ambiguity.ts'
import { walkMembers } from '#base/json-text.ts'
import { parseJson } from '#base/parse-json.ts'
import { skipSpace, skipValue } from '#base/skip-json.ts'
import type { Head } from '#net/http/head.ts'
import { currentName, isA2aMethod, MAX_NAME_LENGTH, methodOfPath, UNKNOWN_METHOD } from './a2a-methods.ts'
import type { KnownBody } from './known-body.ts'

/** How a request to an A2A agent is understood. */
export interface A2aCall {
  /** In the names of protocol 1.0 for all bindings; `unknown` if it is not known. */
  readonly method: string
  readonly binding: 'card' | 'rest' | 'grpc' | 'jsonrpc' | undefined
  /** Set if the agent could find a method where the gateway finds none, or another one; for operators. */
  readonly unreadable: string | undefined
  /** The methods of HTTP that the binding defines for the call, if the request has another one. */
  readonly allow?: string
}

/** Reads the method of a request from its path or its JSON-RPC message. */
export function readA2aCall(request: Head, body: KnownBody): A2aCall {
  const { method } = request
  const ofPath = methodOfPath(method, request.target)
  const message = METHODS_WITHOUT_CALLS.has(method) ? NO_MESSAGE : readMessage(request, body)
  if (ofPath?.allow !== undefined) {
    // The binding JSON-RPC knows no path, but only POST (A2A 1.0, 9.1).
    return method === 'POST' && isCall(message) ? message : misused(ofPath.binding, ofPath.allow)
  }
  if (ofPath === undefined) return method !== 'POST' && isCall(message) ? misused('jsonrpc', 'POST') : message
  const { name, binding } = ofPath
  // An agent that reads JSON-RPC at any path would call another method.
  if (message.binding === 'jsonrpc') return unreadable(`a JSON-RPC message at ${PLACES[binding]}`, binding)
  return { method: name, binding, unreadable: message.unreadable }
}

const METHODS_WITHOUT_CALLS = new Set(['HEAD', 'OPTIONS'])

function isCall({ binding, method, unreadable }: A2aCall): boolean {
  return binding === 'jsonrpc' && unreadable === undefined && isA2aMethod(method)
}

function misused(binding: A2aCall['binding'], allow: string): A2aCall {
  return { method: UNKNOWN_METHOD, binding, unreadable: undefined, allow }
}

/** Paths that determine a method, for operators. */
const PLACES = {
  card: 'the path of the agent card',
  rest: 'a path of the binding HTTP+JSON',
  grpc: 'a path of the binding gRPC',
} as const

const NO_MESSAGE: A2aCall = { method: UNKNOWN_METHOD, binding: undefined, unreadable: undefined }

function unreadable(why: string, binding?: A2aCall['binding']): A2aCall {
  return { method: UNKNOWN_METHOD, binding, unreadable: why }
}

function readMessage(request: Head, { kind, whole, start }: KnownBody): A2aCall {
  if (kind === 'unread') return NO_MESSAGE
  const coding = request.joined('content-encoding')
  if (coding !== undefined && coding.trim().toLowerCase() !== 'identity') return unreadable('the body is compressed')
  if (whole === undefined) return start === undefined ? unreadable('the body is too large') : readStart(start)
  return isGrpcMessage(whole) ? NO_MESSAGE : readWhole(whole, isJson(request.get('content-type')))
}

/** Whether a body is one message of gRPC: a flag, its length, and as many bytes. No text in JSON begins so. */
function isGrpcMessage(body: Uint8Array): boolean {
  if (body.length < 5 || body[0]! > 1) return false
  return new DataView(body.buffer, body.byteOffset).getUint32(1) === body.length - 5
}

const CALL = shapeOf({ jsonrpc: undefined, id: undefined, method: undefined, params: undefined })

/**
 * Some agents ignore the content type, and read JSON that is not well-formed: the SDK for Python takes `NaN`, UTF-16 and UTF-32.
 * @param claimsJson the request says that it is JSON, so that an agent may find a method in it
 */
function readWhole(body: Uint8Array, claimsJson: boolean): A2aCall {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    const message: unknown = parseJson(text)
    if (Array.isArray(message)) return unreadable('the body is a list', 'jsonrpc')
    if (typeof message !== 'object' || message === null) return NO_MESSAGE
    const ambiguous = findAmbiguousMember(text, CALL)
    if (ambiguous !== undefined)
      return unreadable(`ambiguous member ${JSON.stringify(ambiguous.key.slice(0, 32))}`, 'jsonrpc')
    return 'method' in message ? callOf(message.method) : NO_MESSAGE
  } catch {
    const first = body.find((byte) => !BLANK.has(byte))
    const mayBeRead = first === BRACE || first === BRACKET || (claimsJson && first !== undefined)
    return mayBeRead ? unreadable('the body is not JSON') : NO_MESSAGE
  }
}

const BRACE = 0x7b
const BRACKET = 0x5b
/** What may be before a text in JSON: white space, byte order marks, and the other bytes of characters in UTF-16 and UTF-32. */
const BLANK: ReadonlySet<number> = new Set([0x00, 0x09, 0x0a, 0x0d, 0x20, 0xef, 0xbb, 0xbf, 0xfe, 0xff])

/** The first `method` of a message whose end is not known. */
function readStart(body: Uint8Array): A2aCall {
  const text = new TextDecoder().decode(body)
  let name: string | undefined
  walkMembers(text, skipSpace(text, 0), (key, at) => {
    const end = skipValue(text, at)
    if (foldCase(key) !== 'method' || end < 0) return end
    name = text[at] === '"' ? text.slice(at, end) : undefined
    return -1
  })
  try {
    return name === undefined ? unreadable('the body is too large') : callOf(parseJson(name))
  } catch {
    return unreadable('the body is not JSON')
  }
}

function callOf(method: unknown): A2aCall {
  if (typeof method !== 'string' || method === '' || method.length > MAX_NAME_LENGTH) return NO_MESSAGE
  return { method: currentName(method), binding: 'jsonrpc', unreadable: undefined }
}

/** `application/json` and types based on it, such as `application/a2a+json` (RFC 6839). */
function isJson(contentType: string | undefined): boolean {
  const type = trimSpace((contentType ?? '').split(';', 1)[0]!).toLowerCase()
  return type === 'application/json' || type.endsWith('+json')
}
