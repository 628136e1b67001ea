import { NO_TOKENS } from '#exchange/llm-facts.ts'
import type { AnswerSink, AnswerUsage } from '#protocols/llm/chat/answer-sink.ts'
import type { WireDialect } from '#protocols/llm/chat/dialect.ts'
import type { ClientFormat } from '#protocols/llm/settings/route-type.ts'

/** The chats of clients, and those of providers. */
export const CLIENTS = ['Completions', 'Messages', 'Responses'] as const satisfies readonly ClientFormat[]
export const PROVIDERS = ['completions', 'messages', 'converse'] as const satisfies readonly WireDialect[]

type Client = (typeof CLIENTS)[number]

/** What a request can have: how the clients of each format say it. A format without an entry has no word for it. */
export interface Feature {
  readonly name: string
  /** The model of chat completions, if it is not the usual one. */
  readonly model?: string
  /** What a request has that carries it, for one that is carried in part. */
  readonly sent?: string
  /** Members of the body besides the model, by format. */
  readonly by: Readonly<Partial<Record<Client, Readonly<Record<string, unknown>>>>>
}

const PNG = 'iVBORw0KGgo='
const PDF = 'JVBERi0xLjQK'
const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }
const user = (content: unknown) => ({ role: 'user', content })
const assistant = (more: object) => ({ role: 'assistant', ...more })
const chat = (content: unknown, more: object = {}) => ({ messages: [user(content)], ...more })
const messages = (content: unknown, more: object = {}) => ({ max_tokens: 4096, messages: [user(content)], ...more })
const input = (content: unknown, more: object = {}) => ({ input: [{ type: 'message', ...user(content) }], ...more })
const item = (...items: object[]) => ({ input: [{ type: 'message', role: 'user', content: 'q' }, ...items] })
const thought = (encrypted_content: string, ...texts: string[]) => ({
  type: 'reasoning',
  id: 'rs_1',
  summary: texts.map((text) => ({ type: 'summary_text', text })),
  encrypted_content,
})

const chatTool = { type: 'function', function: { name: 'f', description: 'd', parameters: schema } }
const messagesTool = { name: 'f', description: 'd', input_schema: schema }
const responsesTool = { type: 'function', name: 'f', description: 'd', parameters: schema, strict: false }
const chatTools = { tools: [chatTool] }
const messagesTools = { tools: [messagesTool] }
const responsesTools = { tools: [responsesTool] }

const chatCall = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":"b"}' } }
const messagesCall = { type: 'tool_use', id: 'c1', name: 'f', input: { a: 'b' } }
const responsesCall = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":"b"}' }

/** A conversation with a call and its result. */
function called(result: { readonly chat: unknown; readonly messages: object; readonly responses: unknown }) {
  return {
    Completions: {
      ...chatTools,
      messages: [
        user('q'),
        assistant({ tool_calls: [chatCall] }),
        { role: 'tool', tool_call_id: 'c1', content: result.chat },
      ],
    },
    Messages: {
      ...messagesTools,
      max_tokens: 4096,
      messages: [
        user('q'),
        assistant({ content: [messagesCall] }),
        user([{ type: 'tool_result', tool_use_id: 'c1', ...result.messages }]),
      ],
    },
    Responses: {
      ...responsesTools,
      ...item(responsesCall, { type: 'function_call_output', call_id: 'c1', output: result.responses }),
    },
  }
}

const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }

export const FEATURES: readonly Feature[] = [
  {
    name: 'system text',
    by: {
      Completions: { messages: [{ role: 'system', content: 's' }, user('q')] },
      Messages: messages('q', { system: 's' }),
      Responses: input('q', { instructions: 's' }),
    },
  },
  {
    name: 'system text between turns',
    by: {
      Completions: {
        messages: [user('q'), assistant({ content: 'a' }), { role: 'developer', content: 's' }, user('r')],
      },
      Responses: item({ role: 'developer', content: 's' }, user('r')),
    },
  },
  {
    name: 'image as data',
    by: {
      Completions: chat([{ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }]),
      Messages: messages([image]),
      Responses: input([{ type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${PNG}` }]),
    },
  },
  {
    name: 'image by URL',
    by: {
      Completions: chat([{ type: 'image_url', image_url: { url: 'https://a.test/b.png' } }]),
      Messages: messages([{ type: 'image', source: { type: 'url', url: 'https://a.test/b.png' } }]),
      Responses: input([{ type: 'input_image', detail: 'auto', image_url: 'https://a.test/b.png' }]),
    },
  },
  {
    name: 'file as data',
    by: {
      Completions: chat([
        { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` } },
      ]),
      Messages: messages([
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF }, title: 'a.pdf' },
      ]),
      Responses: input([{ type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` }]),
    },
  },
  {
    name: 'file by URL',
    by: {
      Messages: messages([{ type: 'document', source: { type: 'url', url: 'https://a.test/b.pdf' } }]),
      Responses: input([{ type: 'input_file', file_url: 'https://a.test/b.pdf' }]),
    },
  },
  {
    name: 'uploaded file',
    by: {
      Completions: chat([{ type: 'file', file: { file_id: 'file_1' } }]),
      Messages: messages([{ type: 'document', source: { type: 'file', file_id: 'file_1' } }]),
      Responses: input([{ type: 'input_file', file_id: 'file_1' }]),
    },
  },
  {
    name: 'audio',
    by: {
      Completions: chat([{ type: 'input_audio', input_audio: { data: PNG, format: 'wav' } }]),
      Responses: input([{ type: 'input_audio', input_audio: { data: PNG, format: 'wav' } }]),
    },
  },
  {
    name: 'tools',
    by: {
      Completions: chat('q', chatTools),
      Messages: messages('q', messagesTools),
      Responses: input('q', responsesTools),
    },
  },
  {
    name: 'tools that take a text',
    by: {
      Completions: chat('q', { tools: [{ type: 'custom', custom: { name: 'f', description: 'd' } }] }),
      Responses: input('q', { tools: [{ type: 'custom', name: 'f', description: 'd' }] }),
    },
  },
  {
    name: 'web search',
    model: 'gpt-4o-search-preview',
    sent: '"web_search',
    by: {
      Completions: chat('q', { web_search_options: {} }),
      Messages: messages('q', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }),
      Responses: input('q', { tools: [{ type: 'web_search' }] }),
    },
  },
  {
    name: 'other tools of the provider',
    by: {
      Messages: messages('q', { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] }),
      Responses: input('q', { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }),
    },
  },
  {
    name: 'a call is required',
    by: {
      Completions: chat('q', { ...chatTools, tool_choice: 'required' }),
      Messages: messages('q', { ...messagesTools, tool_choice: { type: 'any' } }),
      Responses: input('q', { ...responsesTools, tool_choice: 'required' }),
    },
  },
  {
    name: 'one tool is required',
    by: {
      Completions: chat('q', { ...chatTools, tool_choice: { type: 'function', function: { name: 'f' } } }),
      Messages: messages('q', { ...messagesTools, tool_choice: { type: 'tool', name: 'f' } }),
      Responses: input('q', { ...responsesTools, tool_choice: { type: 'function', name: 'f' } }),
    },
  },
  {
    name: 'one call at a time',
    by: {
      Completions: chat('q', { ...chatTools, parallel_tool_calls: false }),
      Messages: messages('q', { ...messagesTools, tool_choice: { type: 'auto', disable_parallel_tool_use: true } }),
      Responses: input('q', { ...responsesTools, parallel_tool_calls: false }),
    },
  },
  { name: 'calls and results', by: called({ chat: 'r', messages: { content: 'r' }, responses: 'r' }) },
  {
    name: 'a result that is an error',
    by: { Messages: called({ chat: 'r', messages: { content: 'r', is_error: true }, responses: 'r' }).Messages },
  },
  {
    name: 'a result with an image',
    by: {
      Messages: called({ chat: 'r', messages: { content: [image] }, responses: 'r' }).Messages,
      Responses: called({
        chat: 'r',
        messages: {},
        responses: [{ type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${PNG}` }],
      }).Responses,
    },
  },
  {
    name: 'signed thoughts',
    by: {
      Completions: {
        messages: [user('q'), assistant({ content: 'a', reasoning_content: 't', reasoning_signature: 's' }), user('r')],
      },
      Messages: {
        max_tokens: 4096,
        messages: [
          user('q'),
          assistant({
            content: [
              { type: 'thinking', thinking: 't', signature: 's' },
              { type: 'text', text: 'a' },
            ],
          }),
          user('r'),
        ],
      },
      Responses: item(thought('gatewright:messages:signature:s', 't'), user('r')),
    },
  },
  {
    name: 'redacted thoughts',
    by: {
      Messages: {
        max_tokens: 4096,
        messages: [
          user('q'),
          assistant({
            content: [
              { type: 'redacted_thinking', data: 'eA==' },
              { type: 'text', text: 'a' },
            ],
          }),
          user('r'),
        ],
      },
      Responses: item(thought('gatewright:messages:redacted:eA=='), user('r')),
    },
  },
  {
    name: 'answer by a schema',
    by: {
      Completions: chat('q', {
        response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } },
      }),
      Messages: messages('q', { output_config: { format: { type: 'json_schema', schema } } }),
      Responses: input('q', { text: { format: { type: 'json_schema', name: 'n', schema, strict: true } } }),
    },
  },
  {
    name: 'answer as any JSON object',
    by: {
      Completions: chat('q', { response_format: { type: 'json_object' } }),
      Responses: input('q', { text: { format: { type: 'json_object' } } }),
    },
  },
  {
    name: 'effort of thinking',
    model: 'gpt-5.1',
    by: {
      Completions: chat('q', { reasoning_effort: 'high' }),
      Messages: messages('q', { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }),
      Responses: input('q', { reasoning: { effort: 'high' } }),
    },
  },
  {
    name: 'budget of thinking',
    model: 'gpt-5.1',
    by: {
      Completions: chat('q', { thinking_budget_tokens: 2048, max_tokens: 4096 }),
      Messages: messages('q', { thinking: { type: 'enabled', budget_tokens: 2048 } }),
      Responses: input('q', { max_output_tokens: 4096, vendor_extensions: { thinking_budget_tokens: 2048 } }),
    },
  },
  {
    name: 'most tokens of the answer',
    by: {
      Completions: chat('q', { max_completion_tokens: 100 }),
      Messages: messages('q', { max_tokens: 100 }),
      Responses: input('q', { max_output_tokens: 100 }),
    },
  },
  {
    name: 'temperature',
    by: {
      Completions: chat('q', { temperature: 0.5 }),
      Messages: messages('q', { temperature: 0.5 }),
      Responses: input('q', { temperature: 0.5 }),
    },
  },
  {
    name: 'top_p beside a temperature',
    by: {
      Completions: chat('q', { temperature: 0.5, top_p: 0.5 }),
      Messages: messages('q', { temperature: 0.5, top_p: 0.5 }),
      Responses: input('q', { temperature: 0.5, top_p: 0.5 }),
    },
  },
  { name: 'top_k', by: { Completions: chat('q', { top_k: 5 }), Messages: messages('q', { top_k: 5 }) } },
  {
    name: 'penalties and seed',
    by: { Completions: chat('q', { frequency_penalty: 0.5, presence_penalty: 0.5, seed: 1 }) },
  },
  { name: 'several answers', by: { Completions: chat('q', { n: 2 }) } },
  {
    name: 'probabilities of tokens',
    by: { Completions: chat('q', { logprobs: true }), Responses: input('q', { top_logprobs: 2 }) },
  },
  {
    name: 'stop sequences',
    by: { Completions: chat('q', { stop: ['x'] }), Messages: messages('q', { stop_sequences: ['x'] }) },
  },
  {
    name: 'end user',
    by: {
      Completions: chat('q', { user: 'u' }),
      Messages: messages('q', { metadata: { user_id: 'u' } }),
      Responses: input('q', { user: 'u' }),
    },
  },
  {
    name: 'service tier',
    by: {
      Completions: chat('q', { service_tier: 'auto' }),
      Messages: messages('q', { service_tier: 'auto' }),
      Responses: input('q', { service_tier: 'auto' }),
    },
  },
  {
    name: 'cache marks',
    by: {
      Completions: chat([{ type: 'text', text: 'q', prompt_cache_breakpoint: { mode: 'explicit' } }]),
      Messages: messages([{ type: 'text', text: 'q', cache_control: { type: 'ephemeral' } }]),
      Responses: input([{ type: 'input_text', text: 'q', prompt_cache_breakpoint: { mode: 'explicit' } }]),
    },
  },
  {
    name: 'an earlier response or conversation',
    by: { Responses: input('q', { previous_response_id: 'resp_1' }) },
  },
]

/** What an answer can have: how a reader tells it, and what of it must be in what the client gets. */
export interface Told {
  readonly name: string
  readonly tell: (sink: AnswerSink) => void
  readonly shows: string
}

const USAGE: AnswerUsage = { ...NO_TOKENS, serviceTier: undefined, inputTokens: 10, outputTokens: 5, totalTokens: 15 }
const finished = (sink: AnswerSink) => {
  sink.finish('end')
  sink.usage(USAGE)
}
const withText = (more: (sink: AnswerSink) => void) => (sink: AnswerSink) => {
  sink.text(0, 'text')
  more(sink)
  sink.close(0)
  finished(sink)
}
const withUsage = (usage: Partial<AnswerUsage>) => (sink: AnswerSink) => {
  sink.text(0, 'text')
  sink.close(0)
  sink.finish('end')
  sink.usage({ ...USAGE, ...usage })
}

export const TOLD: readonly Told[] = [
  { name: 'text', tell: withText((sink) => sink.text(0, 'MARK')), shows: 'MARK' },
  {
    name: 'refusal',
    tell: (sink) => {
      sink.refusal(0, 'MARK')
      sink.close(0)
      sink.finish('refusal')
      sink.usage(USAGE)
    },
    shows: 'MARK',
  },
  {
    name: 'thoughts',
    tell: (sink) => {
      sink.thinking(1, 'MARK')
      sink.close(1)
      withText(() => {})(sink)
    },
    shows: 'MARK',
  },
  {
    name: 'signatures of thoughts',
    tell: (sink) => {
      sink.thinking(1, 'thought')
      sink.signature(1, 'TUFSSw==')
      sink.close(1)
      withText(() => {})(sink)
    },
    shows: 'TUFSSw==',
  },
  {
    name: 'redacted thoughts',
    tell: (sink) => {
      sink.redacted(1, 'TUFSSw==')
      sink.close(1)
      withText(() => {})(sink)
    },
    shows: 'TUFSSw==',
  },
  {
    name: 'calls',
    tell: (sink) => {
      sink.call(0, 'c1', 'MARK')
      sink.arguments(0, '{}')
      sink.close(0)
      sink.finish('calls')
      sink.usage(USAGE)
    },
    shows: 'MARK',
  },
  {
    name: 'citations of pages',
    tell: withText((sink) => sink.citation(0, { url: 'https://mark.test/', title: 't', text: 'x', start: 0, end: 1 })),
    shows: 'https://mark.test/',
  },
  { name: 'cached tokens', tell: withUsage({ cachedInputTokens: 7 }), shows: '7' },
  { name: 'tokens of thoughts', tell: withUsage({ reasoningTokens: 3 }), shows: '3' },
  { name: 'service tier', tell: withUsage({ serviceTier: 'priority' }), shows: 'priority' },
]
