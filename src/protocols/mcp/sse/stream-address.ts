import { parseJson } from '#base/parse-json.ts'
import { openJson, sealJson } from '#base/sealer.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { MessageId } from '../message/json-rpc.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import { digestOfCaller } from '../session/caller-of.ts'

/** Where the stream of a client is. */
export interface StreamAddress {
  readonly key: string
  /** Name of the worker. */
  readonly thread: string
}

/** How often a stream and those who serve its messages ask whether the other still exists: a worker that dies says nothing. */
export const ALIVE_MS = 5000

/** Messages of other requests, in any worker, to a stream. */
export type ToStream =
  /** Its worker must send its state to the channel `to`. */
  | (StreamQuestion & { readonly say: 'ask'; readonly to: string; readonly thread: string })
  | { readonly say: 'alive' }
  /** A JSON-RPC message for the client. `answers`: it is the response to that request of the client. */
  | { readonly say: 'message'; readonly text: string; readonly answers?: MessageId }
  /** Id of the session that the client has begun. */
  | { readonly say: 'session'; readonly id: string }
  /** A worker still hands on the unsolicited messages of targets. */
  | { readonly say: 'following' }
  | { readonly say: 'unfollowed'; readonly sessionId: string | undefined }
  /** The session is over. */
  | { readonly say: 'end' }

/** What a message of the client needs of its stream. */
interface StreamQuestion {
  /** The worker that asks could hand on unsolicited messages. */
  readonly follows: boolean
  /** It will serve the request with this id, and say so when it is answered. */
  readonly serves: MessageId | undefined
}

/** What a stream knows. */
export interface StreamState {
  readonly sessionId: string | undefined
  /** Who asked has to hand on the unsolicited messages of targets: nobody else does. */
  readonly mustFollow: boolean
}

/** The query parameter of the endpoint to which a client sends its messages. */
const PARAMETER = 'sessionId'

interface SealedAddress {
  readonly k: 'mcp-client-stream'
  readonly b: string
  readonly i: string
  readonly r: string
  readonly t: string
}

/** The endpoint for the messages of the client: the address of the stream as the client knows it, with the rest of its query. */
export function endpointOf({ plan, exchange, deps }: McpRequest, { key, thread }: StreamAddress): string {
  const sealed: SealedAddress = {
    k: 'mcp-client-stream',
    b: plan.backend,
    i: digestOfCaller(exchange.identity),
    r: key,
    t: thread,
  }
  const [path, query] = splitTarget(exchange.originalTarget)
  const others = query.split('&').filter((part) => part !== '' && !part.startsWith(`${PARAMETER}=`))
  return `${path}?${[...others, `${PARAMETER}=${sealJson(deps.sealer, sealed)}`].join('&')}`
}

/** The stream that the endpoint names. @returns undefined: none of this client and this backend */
export function addressOf({ plan, exchange, deps }: McpRequest): StreamAddress | undefined {
  const text = new URLSearchParams(splitTarget(exchange.request.target)[1]).get(PARAMETER) ?? ''
  const sealed = openJson<SealedAddress>(deps.sealer, 'mcp-client-stream', text)
  if (sealed?.b !== plan.backend || sealed.i !== digestOfCaller(exchange.identity)) return undefined
  return { key: sealed.r, thread: sealed.t }
}

/** The endpoint is as good as a session id. */
export function redactEndpoint(exchange: Exchange): void {
  exchange.redactQueryParameter(PARAMETER)
}

/** @returns false: the stream is over */
export function tellStream({ deps }: McpRequest, { key, thread }: StreamAddress, told: ToStream): Promise<boolean> {
  return deps.channels.send(streamChannel(key), JSON.stringify(told), thread)
}

/** @returns undefined: the stream is over */
export async function askStream(
  request: McpRequest,
  address: StreamAddress,
  question: StreamQuestion,
): Promise<StreamState | undefined> {
  const { channels } = request.deps
  const to = `mcp-client-stream-asked ${crypto.randomUUID()}`
  let state: StreamState | undefined
  const close = channels.open(to, (text) => {
    state = parseJson(text) as unknown as StreamState
  })
  await tellStream(request, address, { say: 'ask', to, thread: channels.thread, ...question })
  close()
  return state
}

/** Messages to a stream. */
export function streamChannel(key: string): string {
  return `mcp-client-stream ${key}`
}

/** What the stream says to whoever serves a message of its client: it is over, or it asks whether the worker still exists. */
export type ToServing = 'over' | 'alive'

/** Whoever serves a message of the client listens here. */
export function servingChannel(key: string): string {
  return `mcp-client-stream-served ${key}`
}

function splitTarget(target: string): readonly [path: string, query: string] {
  const at = target.indexOf('?')
  return at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)]
}
