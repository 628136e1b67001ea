import { discourageRetries } from '#net/http/discourage-retries.ts'
import type { Head } from '#net/http/head.ts'
import type { RouteType } from '../settings/policy-schema.ts'
import { isMessagesFormat } from '../settings/route-type.ts'

/** Where providers put the id of a request. */
const REQUEST_IDS = ['request-id', 'x-request-id', 'x-amzn-requestid', 'apim-request-id']

/** What the limits of providers count. */
const COUNTED = ['requests', 'tokens', 'input-tokens', 'output-tokens']
const FACTS = ['limit', 'remaining', 'reset']

/** The names of each of these in chat completions and in messages. */
const LIMITS = COUNTED.flatMap((counted) =>
  FACTS.map((fact) => ({
    chats: `x-ratelimit-${fact}-${counted}`,
    messages: `anthropic-ratelimit-${counted}-${fact}`,
    isReset: fact === 'reset',
  })),
)

/** Of a body: also of texts in it that a guard has masked, and that can be few enough to try. */
export const DIGESTS: readonly string[] = ['content-digest', 'content-md5', 'digest', 'repr-digest']

/** They are about the bytes of the provider. */
const ABOUT_BYTES = [...DIGESTS, 'content-encoding', 'content-range', 'etag', 'last-modified', 'accept-ranges']

/** Removes the fields that describe the original bytes of a body that changes. @param head or its trailers */
export function forgetBytes(head: Head): void {
  for (const name of ABOUT_BYTES) head.remove(name)
}

/** Makes clients read a body as guards have: in UTF-8, whatever charset the provider names. */
export function declareUtf8(head: Head): void {
  const type = head.joined('content-type')
  if (type === undefined || !/charset/i.test(type) || UTF8_TYPE.test(type)) return
  const [mediaType] = type.split(/[;,]/, 1) as [string]
  head.set('content-type', `${mediaType.trim()}; charset=utf-8`)
}

const UTF8_TYPE = /^[^;,]+; *charset=(?:utf-8|"utf-8")$/i

/**
 * Gives the fields of a response the names that clients of another API read: the id of the request and the state of rate limits. The
 * provider's own fields stay. Clients do not wait for an error that asks for a long wait.
 */
export function translateHead(type: RouteType, head: Head, nowMs: number): void {
  const isMessages = isMessagesFormat(type)
  const named = REQUEST_IDS.find((name) => head.has(name))
  if (named !== undefined) setNew(head, isMessages ? 'request-id' : 'x-request-id', head.joined(named)!)
  for (const { chats, messages, isReset } of LIMITS) {
    const found = head.joined(isMessages ? chats : messages)
    if (found === undefined) continue
    const value = isReset ? (isMessages ? timeAfter(found, nowMs) : durationUntil(found, nowMs)) : found
    if (value !== undefined) setNew(head, isMessages ? messages : chats, value)
  }
  if (head.status >= 400) discourageRetries(head, nowMs)
}

function setNew(head: Head, name: string, value: string): void {
  if (!head.has(name)) head.set(name, value)
}

/** `6m0s`, `1.5s`, `20ms`; some servers send bare seconds. */
const DURATION = /^(?=[\d.])(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)(?:s|$))?(?:(\d+(?:\.\d+)?)ms)?$/
/** No provider resets a limit after a longer time. */
const MAX_RESET_MS = 366 * 24 * 3_600_000

/** Limits of chat completions are reset after a duration, those of messages at a time in seconds (RFC 3339). */
function timeAfter(duration: string, nowMs: number): string | undefined {
  const [found, hours = 0, minutes = 0, seconds = 0, milliseconds = 0] = DURATION.exec(duration) ?? []
  if (found === undefined) return undefined
  const afterMs = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000 + Number(milliseconds)
  if (afterMs > MAX_RESET_MS) return undefined
  return new Date(Math.ceil((nowMs + afterMs) / 1000) * 1000).toISOString().replace('.000', '')
}

function durationUntil(time: string, nowMs: number): string | undefined {
  const untilMs = Date.parse(time) - nowMs
  return untilMs <= MAX_RESET_MS ? `${Math.max(0, Math.ceil(untilMs / 1000))}s` : undefined
}
