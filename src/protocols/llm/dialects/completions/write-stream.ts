import type { AnswerError, AnswerSink, AnswerUsage, Citation, StopReason } from '../../chat/answer-sink.ts'
import type { AnswerContext } from '../../chat/dialect.ts'
import { TextInput } from '../../chat/text-input.ts'
import { type CallForm, callForm, finishReason } from './call-form.ts'
import { Annotations } from './citations.ts'
import { formatError } from './errors.ts'
import { ThoughtSignatures } from './thoughts.ts'
import { writeTier, writeUsage } from './usage.ts'

export function writeStream(context: AnswerContext, write: (events: string) => void): AnswerSink {
  return new CompletionsStreamWriter(context, write)
}

interface OpenCall {
  readonly index: number
  /** Of a tool that takes a text. */
  readonly input: TextInput | undefined
  hasArguments: boolean
}

/** Writes a stream of chat completion chunks. The first one has the role, the last ones the reason to stop and, if asked for, the usage. */
class CompletionsStreamWriter implements AnswerSink {
  readonly #context: AnswerContext
  readonly #write: (events: string) => void
  readonly #form: CallForm
  readonly #annotations: Annotations
  readonly #thoughts: ThoughtSignatures
  readonly #calls = new Map<number, OpenCall>()
  /** The client asked for a chunk with usage. */
  readonly #includesUsage: boolean
  /** The texts before and after the delta of a chunk, from the start of the answer. */
  #before!: string
  #after!: string
  #callCount = 0
  #hasRole = false
  #hasFailed = false
  #usage: AnswerUsage | undefined

  constructor(context: AnswerContext, write: (events: string) => void) {
    this.#context = context
    this.#write = write
    this.#annotations = new Annotations(context.room)
    this.#thoughts = new ThoughtSignatures(context.room)
    this.#form = callForm(context.request)
    this.#includesUsage = context.request.get('stream_options')?.get('include_usage')?.isTrue === true
  }

  start(id: string, model: string): void {
    const { createdSeconds, newId } = this.#context
    const head = {
      id: id === '' ? newId('chatcmpl-') : id,
      object: 'chat.completion.chunk',
      created: createdSeconds,
      model: model === '' ? this.#context.model : model,
    }
    this.#before = `data: ${JSON.stringify(head).slice(0, -1)},"choices":[{"index":0,"delta":`
    this.#after = `,"logprobs":null,"finish_reason":null}]${this.#includesUsage ? ',"usage":null' : ''}}\n\n`
  }

  text(_block: number, text: string): void {
    this.#annotations.text(text)
    this.#say(`"content":${JSON.stringify(text)}`)
  }

  refusal(_block: number, text: string): void {
    this.#add(`"refusal":${JSON.stringify(text)}`)
  }

  thinking(block: number, text: string): void {
    this.#thoughts.thinking(block, text)
    this.#add(`"reasoning_content":${JSON.stringify(text)}`)
  }

  signature(block: number, text: string): void {
    this.#thoughts.signature(block, text)
  }

  redacted(block: number, data: string): void {
    this.#thoughts.redacted(block, data)
  }

  call(block: number, id: string, name: string): void {
    // There is no form for a second call of a function.
    if (this.#form.isFunction && this.#callCount > 0) return
    const isText = this.#form.textTools.has(name)
    const call = { index: this.#callCount++, input: isText ? new TextInput() : undefined, hasArguments: false }
    this.#calls.set(block, call)
    if (this.#form.isFunction) return this.#add(`"function_call":{"name":${JSON.stringify(name)},"arguments":""}`)
    const given = JSON.stringify(id === '' ? this.#context.newId('call_') : id)
    const called = isText
      ? `"type":"custom","custom":{"name":${JSON.stringify(name)},"input":""}`
      : `"type":"function","function":{"name":${JSON.stringify(name)},"arguments":""}`
    this.#add(`"tool_calls":[{"index":${call.index},"id":${given},${called}}]`)
  }

  arguments(block: number, text: string): void {
    const call = this.#calls.get(block)
    if (call === undefined || text === '') return
    call.hasArguments = true
    if (call.input === undefined) this.#addArguments(call, text)
    else this.#addInput(call, call.input.read(text))
  }

  citation(_block: number, citation: Citation): void {
    this.#annotations.add(citation)
  }

  close(block: number): void {
    const call = this.#calls.get(block)
    if (call === undefined) return this.#annotate()
    this.#calls.delete(block)
    if (call.input !== undefined) this.#addInput(call, call.input.end())
    else if (!call.hasArguments) this.#addArguments(call, '{}')
  }

  finish(reason: StopReason): void {
    const signature = this.#thoughts.text
    if (signature !== undefined) this.#add(`"reasoning_signature":${JSON.stringify(signature)}`)
    this.#say('')
    const word = finishReason(reason, this.#form)
    this.#write(`${this.#before}{}${this.#after.replace('"finish_reason":null', `"finish_reason":"${word}"`)}`)
  }

  usage(usage: AnswerUsage): void {
    this.#usage = usage
  }

  fail(error: AnswerError): void {
    this.#hasFailed = true
    this.#write(`data: ${formatError(error)}\n\n`)
  }

  end(): void {
    if (this.#hasFailed) return
    const usage = this.#usage
    if (usage !== undefined && this.#includesUsage) {
      const head = this.#before.slice(0, this.#before.lastIndexOf('"choices"'))
      const name = writeTier(usage)
      const tier = name === undefined ? '' : `"service_tier":${JSON.stringify(name)},`
      this.#write(`${head}${tier}"choices":[],"usage":${JSON.stringify(writeUsage(usage))}}\n\n`)
    }
    this.#write('data: [DONE]\n\n')
  }

  /** A delta of a text, which follows a chunk with the role alone. */
  #say(member: string): void {
    if (!this.#hasRole) {
      this.#hasRole = true
      this.#write(`${this.#before}{"role":"assistant","content":"","refusal":null}${this.#after}`)
    }
    if (member !== '') this.#write(`${this.#before}{${member}}${this.#after}`)
  }

  /** A delta of something else, which has the role itself. */
  #add(member: string): void {
    const role = this.#hasRole ? '' : '"role":"assistant","content":null,'
    this.#hasRole = true
    this.#write(`${this.#before}{${role}${member}}${this.#after}`)
  }

  #addArguments({ index }: OpenCall, text: string): void {
    const added = `{"arguments":${JSON.stringify(text)}}`
    if (this.#form.isFunction) this.#add(`"function_call":${added}`)
    else this.#add(`"tool_calls":[{"index":${index},"function":${added}}]`)
  }

  #addInput({ index }: OpenCall, text: string): void {
    if (text !== '') this.#add(`"tool_calls":[{"index":${index},"custom":{"input":${JSON.stringify(text)}}}]`)
  }

  #annotate(): void {
    const annotations = this.#annotations.take()
    if (annotations.length > 0) this.#say(`"annotations":${JSON.stringify(annotations)}`)
  }
}
