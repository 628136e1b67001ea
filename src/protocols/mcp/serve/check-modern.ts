import type { Json } from '#base/json.ts'
import type { RejectionCode } from '#base/rejections.ts'
import type { ServedAnswer } from '../../backend-protocol.ts'
import {
  HEADER_MISMATCH,
  INVALID_PARAMS,
  isObject,
  METHOD_NOT_FOUND,
  type Message,
  type MessageId,
  MISSING_CAPABILITY,
  type RequestMessage,
} from '../message/json-rpc.ts'
import { META, TASKS } from '../message/meta.ts'
import { isForExtension, methodRoute } from '../message/methods.ts'
import { eraOf } from '../message/protocol-version.ts'
import { decodeHeader, nameOfRequest } from '../message/request-headers.ts'
import { type RequestError, refuseRequest } from '../request/mcp-answer.ts'
import type { McpRequest } from '../request/mcp-request.ts'

type Checked = Pick<McpRequest, 'plan' | 'exchange'>

function isUnknown({ plan }: Checked, method: string): boolean {
  return methodRoute(method, 'modern') === undefined && !isForExtension(plan, method)
}

/**
 * Checks what revision 2026-07-28 requires of every request: a method of this revision, its metadata in `_meta`, and header fields that
 * agree with the body, because intermediaries decide by them. @returns the refusal, if there is one
 */
export function checkModern(request: Checked, message: Message): ServedAnswer | undefined {
  const { request: head } = request.exchange
  if (message.kind === 'response') return undefined
  const id = message.kind === 'request' ? message.id : null
  if (message.kind === 'request' && isUnknown(request, message.method)) {
    return refuse(request, 'mcp-method-unknown', { id, code: METHOD_NOT_FOUND, message: 'Method not found' })
  }
  if (head.has('mcp-session-id')) {
    const error = 'this revision of the protocol has no sessions'
    return refuse(request, 'mcp-message-invalid', { id, code: INVALID_PARAMS, message: error })
  }
  const method = head.joined('mcp-method')
  if (method?.trim() !== message.method && (method !== undefined || message.kind === 'request')) {
    return mismatch(request, id, 'Mcp-Method')
  }
  return message.kind === 'request' ? checkMeta(request, message) : undefined
}

/** A request that names a revision without sessions in its body only: intermediaries would take it for another one. */
export function checkLegacy(request: Checked, message: Message): ServedAnswer | undefined {
  if (message.kind !== 'request' || !isObject(message.params?._meta)) return undefined
  const version = message.params._meta[META.protocolVersion]
  if (typeof version !== 'string' || eraOf(version) !== 'modern') return undefined
  return mismatch(request, message.id, 'MCP-Protocol-Version')
}

function checkMeta(request: Checked, message: RequestMessage): ServedAnswer | undefined {
  const { request: head } = request.exchange
  const { id, params } = message
  const meta = isObject(params?._meta) ? params._meta : {}
  const version = meta[META.protocolVersion]
  for (const [name, isValid] of [
    ['protocolVersion', typeof version === 'string'],
    ['clientCapabilities', isObject(meta[META.clientCapabilities])],
  ] as const) {
    if (isValid) continue
    const error = `params._meta has no ${META[name]}`
    return refuse(request, 'mcp-message-invalid', { id, code: INVALID_PARAMS, message: error })
  }
  if (version !== head.joined('mcp-protocol-version')?.trim()) return mismatch(request, id, 'MCP-Protocol-Version')
  if (message.method.startsWith('tasks/') && !declaresTasks(meta[META.clientCapabilities])) {
    const extensions = { [TASKS]: {} }
    const error = { id, code: MISSING_CAPABILITY, message: `the client has not declared ${TASKS}` }
    return refuse(request, 'mcp-message-invalid', { ...error, data: { requiredCapabilities: { extensions } } })
  }
  const name = nameOfRequest(message)
  if (name !== undefined) {
    const named = head.joined('mcp-name')
    if (named === undefined || decodeHeader(named.trim()) !== name) return mismatch(request, id, 'Mcp-Name')
  }
  return undefined
}

function declaresTasks(capabilities: Json | undefined): boolean {
  return isObject(capabilities) && isObject(capabilities.extensions) && capabilities.extensions[TASKS] !== undefined
}

function mismatch(request: Checked, id: MessageId | null, header: string): ServedAnswer {
  const message = `header ${header} does not agree with the message`
  return refuse(request, 'mcp-header-mismatch', { id, code: HEADER_MISMATCH, message })
}

function refuse({ exchange }: Checked, code: RejectionCode, error: RequestError): ServedAnswer {
  return refuseRequest(exchange, { code, detail: error.message }, error)
}
