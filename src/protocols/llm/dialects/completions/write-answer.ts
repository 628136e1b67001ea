import type {
  ChatCompletion,
  ChatCompletionMessage,
  ChatCompletionMessageToolCall,
} from 'openai/resources/chat/completions'
import type { AnswerError, AnswerSink, AnswerUsage, Citation, StopReason } from '../../chat/answer-sink.ts'
import type { AnswerContext } from '../../chat/dialect.ts'
import { TextInput } from '../../chat/text-input.ts'
import { encode } from '../../json/splice.ts'
import { type CallForm, callForm, finishReason } from './call-form.ts'
import { type Annotation, Annotations } from './citations.ts'
import { formatError } from './errors.ts'
import { ThoughtSignatures } from './thoughts.ts'
import { writeTier, writeUsage } from './usage.ts'

export function writeAnswer(context: AnswerContext, done: (body: Uint8Array) => void): AnswerSink {
  return new CompletionWriter(context, done)
}

/** A message with the members that other vendors have added for thoughts. */
interface Message extends ChatCompletionMessage {
  reasoning_content?: string
  reasoning_signature?: string
}

interface Call {
  readonly id: string
  readonly name: string
  readonly pieces: string[]
}

/** Writes a chat completion. */
class CompletionWriter implements AnswerSink {
  readonly #context: AnswerContext
  readonly #done: (body: Uint8Array) => void
  readonly #annotations = new Annotations(undefined)
  readonly #annotated: Annotation[] = []
  readonly #thoughts = new ThoughtSignatures(undefined)
  /** By block; most answers have none. */
  #calls: Map<number, Call> | undefined
  #content: string | null = null
  #refusal: string | null = null
  #thinking: string | null = null
  #id = ''
  #model = ''
  #reason: StopReason = 'end'
  #usage: AnswerUsage | undefined
  #error: AnswerError | undefined

  constructor(context: AnswerContext, done: (body: Uint8Array) => void) {
    this.#context = context
    this.#done = done
  }

  start(id: string, model: string): void {
    this.#id = id
    this.#model = model
  }

  text(_block: number, text: string): void {
    this.#annotations.text(text)
    this.#content = (this.#content ?? '') + text
  }

  refusal(_block: number, text: string): void {
    this.#refusal = (this.#refusal ?? '') + text
  }

  thinking(block: number, text: string): void {
    this.#thoughts.thinking(block, text)
    this.#thinking = (this.#thinking ?? '') + text
  }

  signature(block: number, text: string): void {
    this.#thoughts.signature(block, text)
  }

  redacted(block: number, data: string): void {
    this.#thoughts.redacted(block, data)
  }

  call(block: number, id: string, name: string): void {
    this.#calls ??= new Map()
    this.#calls.set(block, { id: id === '' ? this.#context.newId('call_') : id, name, pieces: [] })
  }

  arguments(block: number, text: string): void {
    this.#calls?.get(block)?.pieces.push(text)
  }

  citation(_block: number, citation: Citation): void {
    this.#annotations.add(citation)
  }

  close(block: number): void {
    if (this.#calls?.has(block) !== true) this.#annotated.push(...this.#annotations.take())
  }

  finish(reason: StopReason): void {
    this.#reason = reason
  }

  usage(usage: AnswerUsage): void {
    this.#usage = usage
  }

  fail(error: AnswerError): void {
    this.#error = error
  }

  end(): void {
    this.#done(encode(this.#error === undefined ? JSON.stringify(this.#completion()) : formatError(this.#error)))
  }

  #completion(): ChatCompletion {
    const { createdSeconds, newId, model, request } = this.#context
    const form = this.#calls === undefined && this.#reason !== 'calls' ? undefined : callForm(request)
    const completion: ChatCompletion = {
      id: this.#id === '' ? newId('chatcmpl-') : this.#id,
      object: 'chat.completion',
      created: createdSeconds,
      model: this.#model === '' ? model : this.#model,
      choices: [
        {
          index: 0,
          message: this.#message(form),
          logprobs: null,
          finish_reason: finishReason(this.#reason, form),
        },
      ],
    }
    if (this.#usage === undefined) return completion
    completion.usage = writeUsage(this.#usage)
    const tier = writeTier(this.#usage)
    if (tier !== undefined) completion.service_tier = tier
    return completion
  }

  /** @param form undefined: there are no calls */
  #message(form: CallForm | undefined): Message {
    const signature = this.#thoughts.text
    const message: Message = { role: 'assistant', content: this.#content, refusal: this.#refusal }
    if (this.#thinking !== null) message.reasoning_content = this.#thinking
    if (signature !== undefined) message.reasoning_signature = signature
    if (this.#calls !== undefined && form !== undefined) Object.assign(message, writeCalls(this.#calls, form))
    if (this.#annotated.length > 0) message.annotations = this.#annotated
    return message
  }
}

function writeCalls(
  called: ReadonlyMap<number, Call>,
  { textTools, isFunction }: CallForm,
): Pick<Message, 'tool_calls' | 'function_call'> {
  const calls = Array.from(called.values(), ({ id, name, pieces }): ChatCompletionMessageToolCall => {
    const given = pieces.join('')
    if (textTools.has(name)) return { id, type: 'custom', custom: { name, input: readInput(given) } }
    return { id, type: 'function', function: { name, arguments: given === '' ? '{}' : given } }
  })
  const [first] = calls
  // There is no form for a second call of a function.
  return isFunction && first?.type === 'function' ? { function_call: first.function } : { tool_calls: calls }
}

function readInput(text: string): string {
  const input = new TextInput()
  return input.read(text) + input.end()
}
