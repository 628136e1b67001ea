import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { Head } from '#net/http1/head.ts'
import { readCompletionsUsage } from './completions/response.ts'
import { CompletionsStream } from './completions/stream.ts'
import { DETECT_MEMBERS, DetectReader } from './detect/response.ts'
import { DetectStream } from './detect/stream.ts'
import { MessagesUsage } from './messages/response.ts'
import { MessagesStream } from './messages/stream.ts'
import { readResponsesUsage } from './responses/response.ts'
import { ResponsesStream } from './responses/stream.ts'
import type { RouteType } from './route-type.ts'
import type { StreamFormat } from './stream-format.ts'

/** Formats of event streams. */
export const STREAMS: Partial<Record<RouteType, () => StreamFormat>> = {
  Completions: () => new CompletionsStream(),
  Messages: () => new MessagesStream(),
  Responses: () => new ResponsesStream(),
  Detect: () => new DetectStream(),
}

type ReadMember = (key: string, value: unknown, facts: LlmFacts) => void

/** Members of a buffered answer that are read, and by whom. */
export const ANSWERS: Partial<
  Record<RouteType, { readonly members: readonly string[]; readonly reader: () => ReadMember }>
> = {
  Completions: usageAnd(() => readCompletionsUsage),
  Embeddings: usageAnd(() => readCompletionsUsage),
  Responses: usageAnd(() => readResponsesUsage),
  Messages: usageAnd(() => {
    const usage = new MessagesUsage()
    return (value, facts) => usage.read(value, facts)
  }),
  Detect: {
    members: DETECT_MEMBERS,
    reader: () => {
      const detect = new DetectReader()
      return (key, value, facts) => detect.read({ [key]: value }, facts)
    },
  },
}

function usageAnd(build: () => (usage: unknown, facts: LlmFacts) => void) {
  const reader = (): ReadMember => {
    const readUsage = build()
    return (key, value, facts) => {
      if (key === 'usage') readUsage(value, facts)
      else if (typeof value === 'string') facts.responseModel = value
    }
  }
  return { members: ['model', 'usage'], reader }
}

/** Error answers carry no usage; compressed ones come only from providers that ignore what was asked for. */
export function isReadable(response: Head): boolean {
  if (response.status < 200 || response.status > 299) return false
  const coding = response.get('content-encoding')
  return coding === undefined || coding === 'identity'
}

export function isEventStream(response: Head): boolean {
  return /^text\/event-stream(?:\s*;|\s*$)/i.test(response.get('content-type') ?? '')
}
