import { expect, test } from 'vitest'
import type { Dialect } from '#protocols/llm/chat/dialect.ts'
import { PROVIDER_DIALECTS } from '#protocols/llm/dialects/index.ts'
import { CLIENT_DIALECTS } from '#protocols/llm/testing.ts'
import { readAnswer, readCases, readRequest } from './harness.ts'

// The members that readers require, in the fixtures: without one, the refusal names it and where it belongs.

const ROOT = import.meta.dirname

interface Missing {
  readonly body: unknown
  /** Of the object without the member. */
  readonly path: string
  readonly name: string
}

/** Every member of every object, with the body that lacks it. */
function* withoutEach(body: unknown, path: string, rebuild: (part: unknown) => unknown): Generator<Missing> {
  if (typeof body !== 'object' || body === null) return
  if (Array.isArray(body)) {
    for (const [index, element] of body.entries()) {
      yield* withoutEach(element, `${path}[${index}]`, (part) => rebuild(body.with(index, part)))
    }
    return
  }
  for (const [name, value] of Object.entries(body)) {
    const { [name]: _, ...rest } = body as Record<string, unknown>
    yield { body: rebuild(rest), path, name }
    yield* withoutEach(value, path === '' ? name : `${path}.${name}`, (part) => rebuild({ ...body, [name]: part }))
  }
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value))
const REQUIRED = /^(?:(.*): )?(\w+) is required$/

/** @param refusalOf the message for a body that is refused */
function namesOf(given: unknown, refusalOf: (body: Uint8Array) => string | undefined, found: Set<string>): void {
  for (const { body, path, name } of withoutEach(given, '', (whole) => whole)) {
    const [, place = '', required] = REQUIRED.exec(refusalOf(encode(body)) ?? '') ?? []
    // Without its type, an object is another one, with other required members.
    if (required === name && place === path) found.add(`${path.replace(/\[\d+\]/g, '[]')} ${name}`.trim())
  }
}

const REQUESTS: Readonly<Record<string, readonly string[]>> = {
  completions: [
    'function_call name',
    'functions[] name',
    'messages',
    'messages[] content',
    'messages[] name',
    'messages[] role',
    'messages[] tool_call_id',
    'messages[].content[] file',
    'messages[].content[] image_url',
    'messages[].content[] input_audio',
    'messages[].content[] refusal',
    'messages[].content[] text',
    'messages[].content[] type',
    'messages[].content[].file file_data',
    'messages[].content[].image_url url',
    'messages[].content[].input_audio data',
    'messages[].content[].input_audio format',
    'messages[].function_call name',
    'messages[].tool_calls[] custom',
    'messages[].tool_calls[] function',
    'messages[].tool_calls[] id',
    'messages[].tool_calls[].custom input',
    'messages[].tool_calls[].custom name',
    'messages[].tool_calls[].function name',
    'model',
    'response_format json_schema',
    'response_format type',
    'tool_choice allowed_tools',
    'tool_choice custom',
    'tool_choice function',
    'tool_choice.allowed_tools mode',
    'tool_choice.custom name',
    'tool_choice.function name',
    'tools[] custom',
    'tools[] function',
    'tools[] type',
    'tools[].custom name',
    'tools[].function name',
  ],
  messages: [
    'max_tokens',
    'messages',
    'messages[] content',
    'messages[] role',
    'messages[].content[] content',
    'messages[].content[] data',
    'messages[].content[] id',
    'messages[].content[] input',
    'messages[].content[] name',
    'messages[].content[] source',
    'messages[].content[] text',
    'messages[].content[] thinking',
    'messages[].content[] title',
    'messages[].content[] tool_use_id',
    'messages[].content[] type',
    'messages[].content[].content[] source',
    'messages[].content[].content[] text',
    'messages[].content[].content[] type',
    'messages[].content[].content[].source data',
    'messages[].content[].content[].source media_type',
    'messages[].content[].content[].source type',
    'messages[].content[].source data',
    'messages[].content[].source file_id',
    'messages[].content[].source media_type',
    'messages[].content[].source type',
    'messages[].content[].source url',
    'messages[].content[].source.content[] source',
    'messages[].content[].source.content[] text',
    'messages[].content[].source.content[] type',
    'messages[].content[].source.content[].source data',
    'messages[].content[].source.content[].source media_type',
    'messages[].content[].source.content[].source type',
    'model',
    'output_config.format schema',
    'output_format schema',
    'system[] text',
    'system[] type',
    'thinking budget_tokens',
    'thinking type',
    'tool_choice name',
    'tool_choice type',
    'tools[] input_schema',
    'tools[] name',
  ],
  responses: [
    'input',
    'input[] call_id',
    'input[] content',
    'input[] input',
    'input[] name',
    'input[] output',
    'input[] role',
    'input[].content[] file_data',
    'input[].content[] image_url',
    'input[].content[] input_audio',
    'input[].content[] refusal',
    'input[].content[] text',
    'input[].content[] type',
    'input[].content[].input_audio data',
    'input[].content[].input_audio format',
    'input[].output[] file_data',
    'input[].output[] image_url',
    'input[].output[] text',
    'input[].output[] type',
    'input[].summary[] text',
    'model',
    'text.format schema',
    'text.format type',
    'tool_choice mode',
    'tool_choice name',
    'tool_choice type',
    'tool_choice.tools[] name',
    'tools[] name',
    'tools[] type',
  ],
}
const ANSWERS: Readonly<Record<string, readonly string[]>> = {
  completions: [],
  messages: ['content'],
  converse: ['output', 'output message', 'output.message content'],
}

test.each(Object.keys(CLIENT_DIALECTS) as Dialect[])('requests of %s', (dialect) => {
  const found = new Set<string>()
  for (const each of readCases(ROOT, dialect).filter((one) => one.has('request.json'))) {
    if (readRequest(CLIENT_DIALECTS[dialect]!, each.bytes('request.json')).shown === undefined) continue
    const refusalOf = (body: Uint8Array) => {
      const { shown } = readRequest(CLIENT_DIALECTS[dialect]!, body)
      return (shown as { refused?: string }).refused
    }
    namesOf(JSON.parse(each.text('request.json')), refusalOf, found)
  }
  expect([...found].sort()).toEqual(REQUESTS[dialect])
})

test.each(Object.keys(PROVIDER_DIALECTS) as Dialect[])('answers of %s', (dialect) => {
  const found = new Set<string>()
  for (const each of readCases(ROOT, dialect).filter(({ answer }) => answer === 'answer.json')) {
    const refusalOf = (body: Uint8Array) => {
      const [, error] = readAnswer(PROVIDER_DIALECTS[dialect]!, body).find(([name]) => name === 'fail') ?? []
      return (error as { message?: string } | undefined)?.message
    }
    namesOf(JSON.parse(each.text('answer.json')), refusalOf, found)
  }
  expect([...found].sort()).toEqual(ANSWERS[dialect])
})
