import { expect, test } from 'vitest'
import type { AnswerUsage } from '#protocols/llm/chat/answer-sink.ts'
import type { Conversation, Part, Turn } from '#protocols/llm/chat/conversation.ts'
import type { Dialect } from '#protocols/llm/chat/dialect.ts'
import { PROVIDER_DIALECTS } from '#protocols/llm/dialects/index.ts'
import { CLIENT_DIALECTS } from '#protocols/llm/testing.ts'
import {
  type Call,
  type FixtureCase,
  meaningOf,
  readAnswer,
  readCases,
  readRequest,
  readStream,
  streamOf,
  writeAnswer,
  writeRequest,
  writeStream,
} from './harness.ts'

// What a request says is still said after it was written in another dialect and read again.

const NAMES = (Object.keys(CLIENT_DIALECTS) as Dialect[]).filter((name) => PROVIDER_DIALECTS[name] !== undefined)
const PAIRS = NAMES.flatMap((one) => NAMES.filter((other) => other !== one).map((other) => [one, other] as const))

test.each(PAIRS)('requests of %s keep their meaning in %s', (from, to) => {
  const compared = readCases(import.meta.dirname, from).filter(
    (given) => given.has('request.json') && compare(given, to),
  )
  expect(compared.length).toBeGreaterThan(0)
})

test.each(PAIRS)('answers of %s keep their meaning in %s', (from, to) => {
  const [client, provider] = [CLIENT_DIALECTS[to]!, PROVIDER_DIALECTS[to]!]
  for (const given of readCases(import.meta.dirname, from).filter(({ answer }) => answer !== undefined)) {
    const told = readCase(given)
    if (told.some(([name]) => name === 'fail')) continue
    const said = essenceOfAnswer(told)
    const whole = readAnswer(provider, Buffer.from(writeAnswer(client, told, from)))
    expect(essenceOfAnswer(whole), `${given.name}, whole`).toEqual(said)
    const streamed = readStream(provider, [Buffer.from(writeStream(client, told, from))])
    expect(essenceOfAnswer(streamed), `${given.name}, streamed`).toEqual(said)
  }
})

function readCase(given: FixtureCase): readonly Call[] {
  const provider = PROVIDER_DIALECTS[given.dialect]!
  const [file, bytes] = [given.answer!, given.bytes(given.answer!)]
  return file.endsWith('.json') ? readAnswer(provider, bytes) : readStream(provider, [streamOf(file, bytes)])
}

/** What was said, whatever blocks it was said in. Citations and reasons to stop have tables of their own. */
function essenceOfAnswer(told: readonly Call[]): unknown {
  const joined = (...names: string[]) =>
    told.map(([name, ...given]) => (names.includes(name) ? given.at(-1) : '')).join('')
  const usage = told.findLast(([name]) => name === 'usage')?.[1] as AnswerUsage | undefined
  return {
    text: joined('text', 'refusal'),
    thinking: joined('thinking'),
    // It says whose it is.
    signature: joined('signature').replace(/^gatewright:\w+:signature:/, ''),
    redacted: joined('redacted'),
    calls: told
      .filter(([name]) => name === 'call')
      .map(([, block, id, tool]) => {
        const input = told.map(([name, of, text]) => (name === 'arguments' && of === block ? text : '')).join('')
        // An API that requires identifiers gets new ones; some leave out arguments that are empty.
        return [id === 'toolu_1' ? '' : id, tool, input.replaceAll(/\s|^\{\}$/g, '')]
      }),
    tokens: [usage?.inputTokens ?? 0, usage?.outputTokens ?? 0, usage?.cachedInputTokens ?? 0],
  }
}

/** Texts that a writer adds because its API cannot do without; the fixtures have them. */
const ADDED: readonly unknown[] = ['', '...', 'Continue.', 'Answer with one JSON object and nothing else.']

/** @returns false if the other dialect cannot carry all of the request */
function compare(given: FixtureCase, to: Dialect): boolean {
  const read = readRequest(CLIENT_DIALECTS[given.dialect]!, given.bytes('request.json'))
  if (read.conversation === undefined) return false
  const { body } = writeRequest(PROVIDER_DIALECTS[to]!, read)
  if (body === undefined || read.losses.paths.length > 0) return false
  const again = readRequest(CLIENT_DIALECTS[to]!, body)
  // A writer may add the tools of the history.
  const hasTools = read.conversation.tools.length > 0
  expect(again.conversation && essenceOf(again.conversation, hasTools), given.name).toEqual(
    essenceOf(read.conversation, hasTools),
  )
  return true
}

/** What every dialect can say, in the order of all dialects. */
function essenceOf(conversation: Conversation, hasTools: boolean): unknown {
  const { turns, tools, toolChoice, parallelCalls, model, streamed, stop, user } = meaningOf(
    conversation,
  ) as Conversation
  return {
    model,
    streamed,
    system: saidBy(turns, 'system'),
    user: saidBy(turns, 'user'),
    assistant: saidBy(turns, 'assistant'),
    tools: hasTools && tools.map(({ name, description }) => [accepted(name), description]),
    // Without tools, there is nothing to choose.
    choice: hasTools && toolChoice?.kind,
    single: hasTools && parallelCalls?.allowed === false,
    stop,
    endUser: user,
  }
}

function saidBy(turns: readonly Turn[], role: Turn['role']): unknown[] {
  const said = turns.filter((turn) => turn.role === role).flatMap(({ parts }) => parts.map(essenceOfPart))
  // Dialects differ in where results stand among other parts.
  return said
    .filter((each) => !ADDED.includes(each))
    .sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))
}

function essenceOfPart(part: Part): unknown {
  switch (part.kind) {
    case 'text':
      return String(part.text).trim()
    case 'call':
      return ['call', accepted(part.id), asObject(part.input)]
    case 'result':
      return ['result', accepted(part.callId), part.parts.map(essenceOfPart).filter((each) => each !== '')]
    case 'thinking':
      return ['thinking', part.text, part.signature || undefined]
    case 'redacted':
      return ['redacted', part.data]
    case 'image':
    case 'file':
      return [part.kind, part.source]
    case 'audio':
      return [part.kind, part.data, part.format]
  }
}

/** Names and ids are altered where a provider would refuse them (`target-names.test.ts`). */
function accepted(name: string): string {
  return name.replaceAll(/\W/g, '_').replace(/_\d+$/, '')
}

/** Some APIs take only objects as the input of a call. */
function asObject(input: unknown): unknown {
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? input : { input }
}
