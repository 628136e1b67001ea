/** What an answer says, whatever its dialect: its texts, its thoughts and its calls, each joined. */
export interface Said {
  readonly text: string
  readonly thinking: string
  readonly calls: readonly (readonly [name: string, input: string])[]
  /** It ended with an error. */
  readonly hasFailed: boolean
}

type Json = Readonly<Record<string, unknown>>

/** A stream or answer is not in the form of its dialect. */
class WrongForm extends Error {}

function hold(condition: unknown, what: string): asserts condition {
  if (condition !== true) throw new WrongForm(what)
}

function objectIn(text: string): Json {
  const value: unknown = JSON.parse(text)
  hold(typeof value === 'object' && value !== null && !Array.isArray(value), `no object: ${text}`)
  return value as Json
}

const textOf = (value: unknown): string => {
  if (value === undefined || value === null) return ''
  hold(typeof value === 'string', `no text: ${JSON.stringify(value)}`)
  return value
}

/** Holds a stream of chat completion chunks against the official order. @returns what it says */
export function readCompletionsStream(stream: string): Said {
  const events = stream.split('\n\n')
  hold(events.pop() === '', 'the last event has no end')
  const calls: [string, string][] = []
  let [text, thinking, head] = ['', '', '']
  let state: 'begin' | 'open' | 'finished' | 'counted' | 'failed' | 'done' = 'begin'
  for (const event of events) {
    hold(state !== 'done' && state !== 'failed', `something follows the end: ${event}`)
    hold(event.startsWith('data: ') && !event.includes('\n'), `not one data line: ${event}`)
    if (event === 'data: [DONE]') {
      hold(state === 'finished' || state === 'counted', `[DONE] in state ${state}`)
      state = 'done'
      continue
    }
    const chunk = objectIn(event.slice(6))
    if (chunk.error !== undefined) {
      hold(typeof (chunk.error as Json).message === 'string', 'an error without message')
      hold(state === 'begin' || state === 'open', `an error in state ${state}`)
      state = 'failed'
      continue
    }
    const { id, object, created, model } = chunk
    head ||= JSON.stringify([id, object, created, model])
    hold(JSON.stringify([id, object, created, model]) === head && typeof id === 'string' && id !== '', 'another head')
    const choices = chunk.choices as readonly Json[]
    if (choices.length === 0) {
      hold(state === 'finished' && typeof (chunk.usage as Json).total_tokens === 'number', `usage in state ${state}`)
      state = 'counted'
      continue
    }
    const [choice] = choices
    hold(choices.length === 1 && choice?.index === 0, 'not one choice')
    hold(state === 'begin' || state === 'open', `a choice in state ${state}`)
    const delta = choice.delta as Json
    hold((delta.role === 'assistant') === (state === 'begin'), `the role in state ${state}`)
    state = choice.finish_reason === null ? 'open' : 'finished'
    text += textOf(delta.content) + textOf(delta.refusal)
    thinking += textOf(delta.reasoning_content)
    for (const call of (delta.tool_calls ?? []) as readonly Json[]) readCallDelta(call, calls)
  }
  hold(state === 'done' || state === 'failed', `ends in state ${state}`)
  return { text, thinking, calls, hasFailed: state === 'failed' }
}

function readCallDelta(delta: Json, calls: [string, string][]): void {
  const called = (delta.function ?? delta.custom) as Json
  if (delta.id !== undefined) {
    hold(delta.index === calls.length && delta.id !== '' && typeof called.name === 'string', 'a call begins wrongly')
    calls.push([called.name, ''])
  }
  const call = calls[delta.index as number]
  hold(call !== undefined, 'arguments of a call that has not begun')
  call[1] += textOf(called.arguments ?? called.input)
}

/** The delta of each kind of block. */
const DELTAS: Readonly<Record<string, readonly string[]>> = {
  text: ['text_delta', 'citations_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  redacted_thinking: [],
  tool_use: ['input_json_delta'],
}

/** Holds an event stream of the messages API against the official order. @returns what it says */
export function readMessagesStream(stream: string): Said {
  const events = stream.split('\n\n')
  hold(events.pop() === '', 'the last event has no end')
  const calls: [string, string][] = []
  let [text, thinking] = ['', '']
  let state: 'begin' | 'between' | 'block' | 'ending' | 'failed' | 'done' = 'begin'
  let [index, kind] = [-1, '']
  for (const event of events) {
    hold(state !== 'done' && state !== 'failed', `something follows the end: ${event}`)
    const [, name, json] = /^event: (\w+)\ndata: ([^\n]*)$/.exec(event) ?? []
    const data = objectIn(json ?? '')
    hold(data.type === name, `the event ${name} has type ${data.type}`)
    switch (name) {
      case 'message_start':
        hold(state === 'begin' && textOf((data.message as Json).id) !== '', `message_start in state ${state}`)
        state = 'between'
        break
      case 'content_block_start':
        hold(state === 'between' && data.index === index + 1, `block ${data.index} begins in state ${state}`)
        state = 'block'
        index++
        kind = (data.content_block as Json).type as string
        if (kind === 'tool_use') calls.push([(data.content_block as Json).name as string, ''])
        break
      case 'content_block_delta': {
        const delta = data.delta as Json
        hold(state === 'block' && data.index === index, `a delta of ${data.index} in state ${state}`)
        hold(DELTAS[kind]?.includes(delta.type as string) === true, `a ${delta.type} in a block of ${kind}`)
        text += textOf(delta.text)
        thinking += textOf(delta.thinking)
        if (kind === 'tool_use') calls.at(-1)![1] += textOf(delta.partial_json)
        break
      }
      case 'content_block_stop':
        hold(state === 'block' && data.index === index, `block ${data.index} ends in state ${state}`)
        state = 'between'
        break
      case 'message_delta':
        hold(state === 'between' && typeof (data.delta as Json).stop_reason === 'string', `an end in state ${state}`)
        state = 'ending'
        break
      case 'message_stop':
        hold(state === 'ending', `message_stop in state ${state}`)
        state = 'done'
        break
      case 'error':
        hold(state !== 'begin' && typeof (data.error as Json).message === 'string', `an error in state ${state}`)
        state = 'failed'
        break
      default:
        hold(name === 'ping', `unknown event ${name}`)
    }
  }
  hold(state === 'done' || state === 'failed', `ends in state ${state}`)
  return { text, thinking, calls, hasFailed: state === 'failed' }
}

/** Holds a chat completion against its form. @returns what it says */
export function readCompletion(body: string): Said {
  const { object, choices } = objectIn(body)
  const [choice] = choices as readonly Json[]
  hold(object === 'chat.completion' && typeof choice?.finish_reason === 'string', 'no completion')
  const message = choice.message as Json
  hold(message.role === 'assistant', 'no message of the assistant')
  const calls = ((message.tool_calls ?? []) as readonly Json[]).map((call) => {
    const called = (call.function ?? call.custom) as Json
    hold(textOf(call.id) !== '', 'a call without id')
    return [textOf(called.name), textOf(called.arguments ?? called.input)] as const
  })
  const text = textOf(message.content) + textOf(message.refusal)
  return { text, thinking: textOf(message.reasoning_content), calls, hasFailed: false }
}

/** Holds a message of the messages API against its form. @returns what it says */
export function readMessage(body: string): Said {
  const { type, content, stop_reason } = objectIn(body)
  hold(type === 'message' && typeof stop_reason === 'string', 'no message')
  const blocks = content as readonly Json[]
  const joined = (kind: string) => blocks.map((block) => (block.type === kind ? textOf(block[kind]) : '')).join('')
  for (const block of blocks) hold(Object.hasOwn(DELTAS, block.type as string), `a block of ${block.type}`)
  const calls = blocks
    .filter((block) => block.type === 'tool_use')
    .map((block) => {
      hold(textOf(block.id) !== '' && typeof block.input === 'object' && block.input !== null, 'a call without input')
      return [textOf(block.name), JSON.stringify(block.input)] as const
    })
  return { text: joined('text'), thinking: joined('thinking'), calls, hasFailed: false }
}

/** Holds an event stream of the responses API against the official order. @returns what it says */
export function readResponsesStream(stream: string): Said {
  const events = stream.split('\n\n')
  hold(events.pop() === '', 'the last event has no end')
  const items: Json[] = []
  let [open, part, delta, last] = ['', '', '', '']
  let sequence = 0
  let end: Json | undefined
  for (const event of events) {
    hold(end === undefined, `something follows the end: ${event}`)
    const [, name = '', json] = /^event: ([\w.]+)\ndata: ([^\n\r]*)$/.exec(event) ?? []
    const data = objectIn(json ?? '')
    hold(data.type === name && data.sequence_number === sequence, `${name} is event ${data.sequence_number}`)
    if (sequence < 2) hold(name === ['response.created', 'response.in_progress'][sequence], `begins with ${name}`)
    sequence++
    if (data.output_index !== undefined)
      hold(data.output_index === items.length, `${name} of item ${data.output_index}`)
    if (data.item_id !== undefined) hold(data.item_id === open, `${name} of another item`)
    switch (name) {
      case 'response.output_item.added':
        hold(open === '', 'an item begins in another one')
        open = textOf((data.item as Json).id)
        hold(open !== '', 'an item without id')
        break
      case 'response.output_item.done':
        hold((data.item as Json).id === open && part === '', 'another item ends')
        items.push(data.item as Json)
        open = ''
        break
      case 'response.content_part.added':
      case 'response.reasoning_summary_part.added':
        hold(part === '' && open !== '', `a part begins in ${part}`)
        part = (data.part as Json).type as string
        break
      case 'response.content_part.done':
      case 'response.reasoning_summary_part.done':
        hold((data.part as Json).type === part, `another part than ${part} ends`)
        part = ''
        break
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        end = data.response as Json
        last = name
        break
      default:
        if (name.endsWith('.delta')) {
          hold(open !== '', 'a delta outside of an item')
          delta += textOf(data.delta)
        } else if (
          typeof data.text === 'string' ||
          typeof data.arguments === 'string' ||
          typeof data.refusal === 'string' ||
          typeof data.input === 'string'
        ) {
          hold((data.text ?? data.arguments ?? data.refusal ?? data.input) === delta, `${name} repeats another text`)
          delta = ''
        }
    }
  }
  hold(end !== undefined && `response.${end.status}` === last, 'no end')
  const said = saidIn(end)
  if (said.hasFailed) return said
  hold(open === '' && JSON.stringify(end.output) === JSON.stringify(items), 'the end does not repeat the items')
  return said
}

/** Holds a response of the responses API against its form. @returns what it says */
export function readResponse(body: string): Said {
  const response = objectIn(body)
  hold(response.status === 'completed' || response.status === 'incomplete', `the status is ${response.status}`)
  return saidIn(response)
}

function saidIn({ object, status, output }: Json): Said {
  hold(object === 'response', 'no response')
  const calls: [string, string][] = []
  let [text, thinking] = ['', '']
  for (const item of output as readonly Json[]) {
    const texts = (list: unknown) => (list as readonly Json[]).map((part) => textOf(part.text ?? part.refusal)).join('')
    if (item.type === 'message') text += texts(item.content)
    else if (item.type === 'reasoning') thinking += texts(item.summary) + texts(item.content ?? [])
    else calls.push([textOf(item.name), textOf(item.arguments ?? item.input)])
  }
  return { text, thinking, calls, hasFailed: status === 'failed' }
}
