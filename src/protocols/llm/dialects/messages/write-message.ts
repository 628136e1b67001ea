import type {
  Message,
  MessageDeltaUsage,
  RefusalStopDetails,
  TextBlock,
  TextCitation,
  ToolUseBlock,
  Usage,
} from '@anthropic-ai/sdk/resources/messages/messages'
import type { AnswerUsage, Citation, StopReason } from '../../chat/answer-sink.ts'
import type { AnswerContext } from '../../chat/dialect.ts'
import { sharesSignatures } from '../../chat/own-thoughts.ts'
import { STOP_REASONS } from '../../chat/stop-reasons.ts'
import { tagSecret } from '../../chat/tagged-secrets.ts'
import { clientCallId } from './client-call-id.ts'

/** What a message has before its contents. */
export function writeHead(id: string, model: string, context: AnswerContext) {
  return {
    id: id === '' ? context.newId('msg_') : id,
    type: 'message',
    role: 'assistant',
    model: model === '' ? context.model : model,
  } as const
}

const REFUSAL: RefusalStopDetails = { type: 'refusal', category: null, explanation: null }

/** How a message ends. */
export class Ending {
  #reason: StopReason | undefined
  #stopSequence: string | null = null
  #usage: AnswerUsage | undefined
  #isRefused = false

  set(reason: StopReason, stopSequence: string | undefined): void {
    this.#reason = reason
    this.#stopSequence = stopSequence ?? null
  }

  setUsage(usage: AnswerUsage): void {
    this.#usage = usage
  }

  /** The model does not answer; why is written as a text, because not all clients show the details of an ending. */
  refuse(): void {
    this.#isRefused = true
  }

  get members(): Pick<Message, 'container' | 'stop_details' | 'stop_reason' | 'stop_sequence'> {
    const reason = this.#isRefused && this.#reason === 'end' ? 'refusal' : (this.#reason ?? 'end')
    return {
      container: null,
      stop_details: reason === 'refusal' ? REFUSAL : null,
      stop_reason: STOP_REASONS.messages.written[reason],
      stop_sequence: this.#stopSequence,
    }
  }

  get usage(): Usage {
    return {
      ...this.deltaUsage,
      input_tokens: inputTokens(this.#usage) ?? 0,
      cache_creation: null,
      inference_geo: null,
      service_tier: tierOf(this.#usage?.serviceTier),
      speed: null,
    }
  }

  get deltaUsage(): MessageDeltaUsage {
    const usage = this.#usage
    const thinking = usage?.reasoningTokens
    return {
      input_tokens: inputTokens(usage) ?? null,
      output_tokens: usage?.outputTokens ?? 0,
      cache_creation_input_tokens: usage?.cacheCreationInputTokens ?? null,
      cache_read_input_tokens: usage?.cachedInputTokens ?? null,
      output_tokens_details: thinking === undefined ? null : { thinking_tokens: thinking },
      server_tool_use: null,
    }
  }
}

/** The API counts cached tokens apart. */
function inputTokens(usage: AnswerUsage | undefined): number | undefined {
  if (usage?.inputTokens === undefined) return undefined
  return Math.max(0, usage.inputTokens - (usage.cachedInputTokens ?? 0) - (usage.cacheCreationInputTokens ?? 0))
}

function tierOf(tier: string | undefined): Usage['service_tier'] {
  if (tier === undefined) return null
  return tier === 'priority' || tier === 'batch' ? tier : 'standard'
}

/** Undefined if the provider does not say what it cites: the API has no kind for that. */
export function writeCitation({ url, title, text }: Citation): TextCitation | undefined {
  if (url === undefined) return undefined
  const cited = { cited_text: text ?? '', encrypted_index: '', title: title ?? null, url }
  return { type: 'web_search_result_location', ...cited }
}

/** A text. Without citations it has no such member on the wire, although the types of the vendor have null there; some clients refuse null. */
export function writeText(text: string, citations: readonly TextCitation[]): TextBlock {
  const block = { type: 'text', text } as const
  return (citations.length === 0 ? block : { ...block, citations }) as TextBlock
}

/** Signatures of providers that do not speak this API, or share its signatures, say whose they are. */
export function writeSignature(signature: string, { provider }: AnswerContext): string {
  return signature === '' || sharesSignatures(provider) ? signature : tagSecret(provider, 'signature', signature)
}

export function writeCallStart(id: string, name: string, context: AnswerContext): ToolUseBlock {
  return {
    type: 'tool_use',
    id: id === '' ? context.newId('toolu_') : clientCallId(id),
    name,
    input: {},
    caller: { type: 'direct' },
  }
}
