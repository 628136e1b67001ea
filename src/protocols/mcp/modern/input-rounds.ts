import type { Json, JsonObject } from '#base/json.ts'
import { isObject, parseMessage, type ResponseMessage } from '../message/json-rpc.ts'
import type { TargetMessage } from '../message/target-reply.ts'
import type { McpDeps, McpRequest } from '../request/mcp-request.ts'
import { TargetStreamError } from '../target/target-stream-error.ts'

/** How much a target may ask for at a time. */
const MAX_REQUESTS = 32

/**
 * Asks the client for what a target needs to complete a request (`inputRequests`), in requests as a target of the legacy era sends them.
 * @returns `inputResponses`
 */
export async function* askClient(
  { deps }: McpRequest,
  inputRequests: Json | undefined,
): AsyncGenerator<TargetMessage, JsonObject> {
  const wanted = Object.entries(isObject(inputRequests) ? inputRequests : {})
  if (wanted.length > MAX_REQUESTS) throw new TargetStreamError('the target asks for too much input at a time')
  const pending = wanted.map(([key, asked]) => ({ key, asked, ...awaitInput(deps) }))
  try {
    for (const { id, asked } of pending) {
      const { method, params } = isObject(asked) ? asked : {}
      const message = parseMessage(
        JSON.stringify({ jsonrpc: '2.0', id, method, ...(params !== undefined && { params }) }),
      )
      if (message.kind !== 'request') throw new TargetStreamError('the target asks for input of an unknown form')
      yield { message, eventId: undefined, retryMs: undefined, keep: () => {} }
    }
    const responses: Record<string, Json> = {}
    for (const { key, asked, response } of pending) responses[key] = resultOf(asked, await response)
    return responses
  } finally {
    for (const { close } of pending) close()
  }
}

/** Waits for the response of the client, which any worker may receive. */
function awaitInput({ channels, signal }: McpDeps) {
  const id = crypto.randomUUID()
  const { promise, resolve, reject } = Promise.withResolvers<JsonObject>()
  const left = () => reject(new TargetStreamError('the client has disconnected'))
  signal.addEventListener('abort', left, { once: true })
  promise.catch(() => {})
  const closeChannel = channels.open(channelOf(id), (text) => {
    const message = parseMessage(text)
    if (message.kind === 'response') resolve(message.json)
  })
  const close = () => {
    closeChannel()
    signal.removeEventListener('abort', left)
  }
  return { id, response: promise, close }
}

/** A client that cannot or will not give the input has cancelled the elicitation; other input has no such form. */
function resultOf(asked: Json, { result }: JsonObject): Json {
  if (result !== undefined) return result
  if (isObject(asked) && asked.method === 'elicitation/create') return { action: 'cancel' }
  throw new TargetStreamError('the client did not give the input that the target needs')
}

/** Hands a response of the client to the request that waits for it. */
export async function answerInput({ channels }: McpDeps, { id, text }: ResponseMessage): Promise<void> {
  if (typeof id === 'string') await channels.send(channelOf(id), text)
}

function channelOf(id: string): string {
  return `mcp-input ${id}`
}
