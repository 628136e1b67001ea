import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPartRefusal,
  ChatCompletionContentPartText,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
import type { CallPart, Part, TextPart, ThinkingPart } from '../../chat/conversation.ts'
import { Untranslatable } from '../../chat/untranslatable.ts'
import { decodeText } from '../../json/native.ts'
import { asIs, JsonPieces, type JsonText, writeJson } from '../../json/write-json.ts'
import type { TurnsTarget } from './target-model.ts'
import { isEmptyText, writeText } from './write-parts.ts'

const QUOTE = 0x22

/** What provider five documents for calls whose signature is unknown, because another model made them. */
const UNKNOWN_SIGNATURE = 'skip_thought_signature_validator'

/** Members that other vendors have added. */
interface AssistantMessage extends ChatCompletionAssistantMessageParam {
  reasoning_content?: string
}

interface FunctionCall extends ChatCompletionMessageFunctionToolCall {
  extra_content?: { google: { thought_signature: string } }
}

/** Adds the turn, unless nothing is left of it. */
export function writeAssistant(parts: readonly Part[], to: TurnsTarget, messages: ChatCompletionMessageParam[]): void {
  const texts: TextPart[] = []
  const calls: FunctionCall[] = []
  const thoughts: ThinkingPart[] = []
  /** The thought before the next call. */
  let thought: ThinkingPart | undefined
  to.loops.each(parts, (part) => {
    switch (part.kind) {
      case 'text':
        if (!isEmptyText(part)) texts.push(part)
        break
      case 'call':
        calls.push(writeCall(part, signatureFor(thought, calls.length === 0, to), to))
        thought = undefined
        break
      case 'thinking':
        if (to.target.thoughts === 'by-call' && isSigned(part)) thought = part
        else if (to.target.thoughts === 'as-text' && !isSigned(part)) thoughts.push(part)
        else to.losses.drop(part.origin, 'a thought of another model')
        break
      case 'redacted':
        to.losses.drop(part.origin, 'a thought of another model')
        break
      default:
        throw new Untranslatable(part.origin, 'is not allowed in an assistant message')
    }
  })
  to.loops.after(() => {
    if (texts.length === 0 && calls.length === 0) return
    messages.push({
      role: 'assistant',
      ...(thoughts.length > 0 && { reasoning_content: joined(thoughts.map(({ text }) => text)) }),
      ...writeSaid(texts, to),
      ...(calls.length > 0 && { tool_calls: calls }),
    } satisfies AssistantMessage)
  })
}

function writeSaid(texts: readonly TextPart[], to: TurnsTarget): Pick<AssistantMessage, 'content' | 'refusal'> {
  const [first] = texts
  if (first === undefined) return { content: null }
  if (texts.length === 1) {
    return first.isRefusal
      ? { content: null, refusal: asIs<string>(first.text) }
      : { content: asIs<string>(first.text) }
  }
  const content: (ChatCompletionContentPartText | ChatCompletionContentPartRefusal)[] = []
  to.loops.each(texts, (part) => {
    content.push(part.isRefusal ? { type: 'refusal', refusal: asIs<string>(part.text) } : writeText(part, to))
  })
  return { content }
}

function writeCall(part: CallPart, signature: string | undefined, { names }: TurnsTarget): FunctionCall {
  return {
    id: names.callId(part.id),
    type: 'function',
    function: { name: names.name(part.name), arguments: writeArguments(part.input) },
    ...(signature !== undefined && { extra_content: { google: { thought_signature: signature } } }),
  }
}

function signatureFor(
  thought: ThinkingPart | undefined,
  isFirst: boolean,
  { target }: TurnsTarget,
): string | undefined {
  if (thought?.signature !== undefined) return asIs<string>(thought.signature)
  return target.requiresSignatures && isFirst ? UNKNOWN_SIGNATURE : undefined
}

/** Arguments are a string with JSON; what is a string already is text that the model wrote instead. */
function writeArguments(input: JsonText): string {
  const text = input instanceof JsonPieces ? writeJson(input) : input
  return text[0] === QUOTE ? asIs<string>(text) : decodeText(text)
}

/** Clients send an empty signature for thoughts without one. */
function isSigned({ signature }: ThinkingPart): boolean {
  return signature !== undefined && (signature instanceof JsonPieces || signature.length > 2)
}

/** Several strings as one. */
function joined(texts: readonly JsonText[]): string {
  const pieces = texts.flatMap((text) => {
    const bytes = text instanceof JsonPieces ? writeJson(text) : text
    return [bytes.subarray(1, -1)]
  })
  return asIs<string>(new JsonPieces(['"', ...pieces, '"']))
}
