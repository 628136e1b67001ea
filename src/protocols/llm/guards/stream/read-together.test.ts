import { expect, test } from 'vitest'
import { reject } from '#exchange/outcome.ts'
import { pass } from '../../testing.ts'
import type { RegexGuard } from '../guard.ts'
import type { GuardedFormat } from '../guarded-format.ts'
import { compileRules } from '../rules/compile-rules.ts'

function guardsWith(...matches: string[]): readonly RegexGuard[] {
  const rules = compileRules({ matches }, (_, message) => {
    throw new Error(message)
  })
  const refusal = reject('prompt-guard-rejected')
  return [{ phase: 'response', index: 0, kind: 'regex', rules, rejects: false, refusal }]
}

type Event = Readonly<Record<string, unknown>>

const sse = (data: Event) => `data: ${JSON.stringify(data)}\n\n`

const chunk = (delta: Event, index = 0) => ({ choices: [{ index, delta }] })
const call = (written: string) =>
  chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: written } }] })
const stop = (index = 0) => ({ choices: [{ index, delta: {}, finish_reason: 'stop' }] })

const block = (index: number, text: string) => [
  { type: 'content_block_delta', index, delta: { type: 'text_delta', text } },
  { type: 'content_block_stop', index },
]
const begun = (index: number, text: string) => {
  return { type: 'content_block_start', index, content_block: { type: 'text', text } }
}
const thinking = (index: number, text: string) => [
  { type: 'content_block_start', index, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'content_block_delta', index, delta: { type: 'thinking_delta', thinking: text } },
  { type: 'content_block_stop', index },
]
const result = (index: number, content: unknown) => [
  { type: 'content_block_start', index, content_block: { type: 'web_fetch_tool_result', tool_use_id: 't', content } },
  { type: 'content_block_stop', index },
]
const end = { type: 'message_stop' }

const item = (output_index: number, type: string, more: Event = {}) => {
  return { type: 'response.output_item.done', output_index, item: { type, role: undefined, ...more } }
}
const message = (output_index: number, text: string) => [
  { type: 'response.output_text.delta', output_index, content_index: 0, delta: text },
  item(output_index, 'message', { role: 'assistant', content: [{ type: 'output_text', text }] }),
]
const refusal = (output_index: number, text: string) => [
  { type: 'response.refusal.delta', output_index, content_index: 0, delta: text },
  item(output_index, 'message', { role: 'assistant', content: [{ type: 'refusal', refusal: text }] }),
]
const thought = (output_index: number, text: string) => [
  { type: 'response.reasoning_summary_text.delta', output_index, summary_index: 0, delta: text },
  item(output_index, 'reasoning', { summary: [{ type: 'summary_text', text }] }),
]
const completed = { type: 'response.completed' }
const completedWith = (...texts: string[]) => ({
  ...completed,
  response: {
    output: texts.map((text) => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] })),
  },
})

const ENDED = undefined

/** All texts of a stream, in the order of the events, or `ENDED`. */
function passed(type: GuardedFormat, patterns: readonly string[], events: readonly Event[]): string | undefined {
  const stream = pass(events.map(sse).join(''), { type, guards: guardsWith(...patterns) })
  if (stream.refusal !== undefined || stream.text.includes('guardrail_intervention')) return ENDED
  const texts = stream.text.matchAll(/"(?:reasoning_content|content|text|thinking|delta|summary)":"([^"]*)"/g)
  return Array.from(texts, ([, text]) => text)
    .filter((text) => text !== '')
    .join('|')
}

test.each<[what: string, patterns: string[], events: Event[], texts: string | undefined]>([
  ['alone', ['\\bfoo'], [chunk({ reasoning_content: 'x' }), chunk({ content: 'foo' }), stop()], 'x|<masked>'],
  ['together', ['\\Bfoo'], [chunk({ reasoning_content: 'x' }), chunk({ content: 'foo' }), stop()], 'x|<masked>'],
  ['across members', ['secret'], [chunk({ reasoning_content: 'se' }), chunk({ content: 'cret' }), stop()], ENDED],
  [
    'in the order of a message',
    ['secret'],
    [chunk({ content: 'cret' }), chunk({ reasoning_content: 'se' }), stop()],
    ENDED,
  ],
  [
    'not in another order',
    ['secret'],
    [chunk({ content: 'se' }), chunk({ reasoning_content: 'cret' }), stop()],
    'se|cret',
  ],
  [
    'members that alternate, which end elsewhere',
    ['bad'],
    [
      chunk({ reasoning_content: 'a b' }),
      chunk({ content: '.' }),
      chunk({ reasoning_content: ' c' }),
      chunk({ content: 'ad' }),
      stop(),
    ],
    'a b|.| c|ad',
  ],
  [
    'members that alternate, and match afterwards',
    ['bad'],
    [
      chunk({ reasoning_content: 'a ' }),
      chunk({ content: 'ad' }),
      chunk({ reasoning_content: 'b' }),
      chunk({ content: 's' }),
      stop(),
    ],
    ENDED,
  ],
  [
    'the same at the end',
    ['bad'],
    [chunk({ reasoning_content: 'a ' }), chunk({ content: 'ad' }), chunk({ reasoning_content: 'b' }), stop()],
    ENDED,
  ],
  [
    'not across choices',
    ['secret'],
    [chunk({ content: 'se' }), stop(), chunk({ content: 'cret' }, 1), stop(1)],
    'se|cret',
  ],
  [
    'the end of a choice decides',
    ['x.y$'],
    [chunk({ reasoning_content: 'x' }), chunk({ content: '.y' }), stop()],
    ENDED,
  ],
  [
    'a text that goes on after its end',
    ['secret'],
    [chunk({ content: 'a se' }), stop(), chunk({ content: 'cret' }), stop()],
    ENDED,
  ],
  [
    'a text that goes on after its end, as one',
    ['^a', '\\bb', 'c$'],
    [chunk({ content: 'x' }), stop(), chunk({ content: 'abc' }), stop()],
    'x|ab<masked>',
  ],
])('Completions: %s', (_, patterns, events, texts) => {
  expect(passed('Completions', patterns, events)).toBe(texts)
})

test.each<[what: string, patterns: string[], events: Event[], texts: string | undefined]>([
  ['across blocks', ['secret'], [...block(0, 'se'), ...block(1, 'cret'), end], ENDED],
  ['over a result', ['secret'], [...block(0, 'se'), ...result(1, { text: 'x' }), ...block(2, 'cret'), end], ENDED],
  [
    'across results',
    ['secret'],
    [...result(0, { text: 'se' }), ...block(1, 'x'), ...result(2, { text: 'cret' }), end],
    ENDED,
  ],
  ['within a result', ['secret'], [...result(0, [{ text: 'se' }, { text: 'cret' }]), end], ENDED],
  [
    'more blocks than are remembered',
    ['secret'],
    [...Array.from({ length: 40 }, (_, at) => block(at, 'x ')).flat(), ...block(40, 'se'), ...block(41, 'cret'), end],
    ENDED,
  ],
  [
    'a block before those that are remembered',
    ['secret'],
    [...Array.from({ length: 17 }, (_, at) => block(at + 1, 'x ')).flat(), ...block(0, 'y'), end],
    ENDED,
  ],
  [
    'a block that goes on before those that are remembered',
    ['secret'],
    [
      ...block(0, 'x '),
      ...block(1, 'cret'),
      ...Array.from({ length: 16 }, (_, at) => block(at + 2, 'x ')).flat(),
      ...block(0, 'se'),
      end,
    ],
    ENDED,
  ],
  ['a block before those that have come', ['secret'], [...block(1, 'cret'), ...block(0, 'se'), end], ENDED],
  ['the same without a match', ['secret'], [...block(1, 'se'), ...block(0, 'cret'), end], 'se|cret'],
  [
    'in the order of events, from a block with the index of another on',
    ['secret'],
    [...thinking(0, 'x'), begun(0, 'a se'), ...block(0, ''), begun(1, 'cret'), ...block(1, ''), end],
    ENDED,
  ],
  [
    'the same if the next block has no beginning',
    ['secret'],
    [...thinking(0, 'x'), begun(0, 'a se'), ...block(0, ''), ...block(1, 'cret'), end],
    ENDED,
  ],
  [
    'across thoughts',
    ['secret'],
    [...thinking(0, 'se'), ...block(1, 'x'), ...thinking(2, 'cret'), ...block(3, 'y'), end],
    ENDED,
  ],
  ['over a thought', ['secret'], [...block(0, 'se'), ...thinking(1, 'x'), ...block(2, 'cret'), end], ENDED],
  ['not from a thought on', ['secret'], [...thinking(0, 'se'), ...block(1, 'cret'), end], 'se|cret'],
  ['the end of the thoughts', ['a.b$'], [...thinking(0, 'a'), ...block(1, 'x'), ...thinking(2, '.b'), end], ENDED],
])('Messages: %s', (_, patterns, events, texts) => {
  expect(passed('Messages', patterns, events)).toBe(texts)
})

test.each<[what: string, patterns: string[], events: Event[], texts: string | undefined]>([
  ['across items', ['secret'], [...message(0, 'se'), ...message(1, 'cret'), completed], ENDED],
  [
    'with a thought between',
    ['se.?cret'],
    [...message(0, 'se'), ...thought(1, 'x'), ...message(2, 'cret'), completed],
    ENDED,
  ],
  [
    'without a thought between',
    ['secret'],
    [...message(0, 'se'), ...thought(1, 'x'), ...message(2, 'cret'), completed],
    ENDED,
  ],
  ['from a thought on', ['secret'], [...thought(0, 'se'), ...message(1, 'cret'), completed], ENDED],
  [
    'from a thought to the next one',
    ['secret'],
    [...thought(0, 'se'), ...message(1, 'x'), ...thought(2, 'cret'), completed],
    ENDED,
  ],
  [
    'without a refusal between',
    ['secret'],
    [...message(0, 'se'), ...refusal(1, 'x'), ...message(2, 'cret'), completed],
    ENDED,
  ],
  [
    'from a refusal to the next one',
    ['secret'],
    [...refusal(0, 'se'), ...message(1, 'x'), ...refusal(2, 'cret'), completed],
    ENDED,
  ],
  [
    'not from a result on',
    ['secret'],
    [item(0, 'shell_call_output', { output: 'se' }), ...message(1, 'cret'), completed],
    'cret|cret',
  ],
  [
    'the end of an item alone',
    ['a.b$'],
    [...message(0, 'a.'), ...message(1, 'b'), ...message(2, '.'), completed],
    'a.|a.|b|b|.|.',
  ],
  [
    'other texts of a last event',
    ['secret'],
    [...message(0, 'x'), ...message(1, 'y'), completedWith('a se', 'cret')],
    ENDED,
  ],
  ['one other text', ['secret'], [...message(0, 'a se'), ...message(1, 'y'), completedWith('a se', 'cret')], ENDED],
  [
    'other texts, of which one decides',
    ['\\Bfoo'],
    [...message(0, 'x'), ...message(1, 'y'), completedWith('a', 'foo')],
    ENDED,
  ],
  [
    'other texts of an item',
    ['secret'],
    [
      ...message(0, 'x'),
      item(0, 'message', {
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'se' },
          { type: 'output_text', text: 'cret' },
        ],
      }),
      completed,
    ],
    ENDED,
  ],
  [
    'other texts, each alone',
    ['secret'],
    [...message(0, 'x'), ...message(1, 'y'), completedWith('a secret', 'b')],
    'x|x|y|y|a <masked>|b',
  ],
  [
    'other texts without a match',
    ['secret', 'masked'],
    [...message(0, 'a secret'), ...message(1, 'y '), completedWith('a secret', 'y')],
    'a <<masked>>|a <<masked>>|y |y |a <<masked>>|y',
  ],
])('Responses: %s', (_, patterns, events, texts) => {
  expect(passed('Responses', patterns, events)).toBe(texts)
})

test.each<[what: string, body: unknown, masked: unknown]>([
  [
    'members of a message in any order',
    { choices: [{ message: { content: 'cret', reasoning_content: 'se' } }] },
    { choices: [{ message: { content: '<masked>', reasoning_content: '<masked>' } }] },
  ],
  [
    'not from the content to the thoughts',
    { choices: [{ message: { content: 'se', reasoning_content: 'cret' } }] },
    { choices: [{ message: { content: 'se', reasoning_content: 'cret' } }] },
  ],
  [
    'not across choices',
    { choices: [{ message: { content: 'se' } }, { message: { content: 'cret' } }] },
    { choices: [{ message: { content: 'se' } }, { message: { content: 'cret' } }] },
  ],
  [
    'not from a message to its tokens',
    { choices: [{ message: { content: 'se' }, logprobs: { content: [{ token: 'cret' }] } }] },
    { choices: [{ message: { content: 'se' }, logprobs: { content: [{ token: 'cret' }] } }] },
  ],
])('a whole message: %s', (_, body, masked) => {
  const answer = { type: 'Completions', guards: guardsWith('secret'), contentType: 'application/json' } as const
  expect(JSON.parse(pass(JSON.stringify(body), answer).text)).toEqual(masked)
})

test('a whole response: sequences of as many texts that begin alike are different', () => {
  const message = (...content: object[]) => ({ type: 'message', role: 'assistant', content })
  const body = (first: string, last: string) => ({
    output: [message({ type: 'output_text', text: first }, { refusal: 'x' }), message({ text: last })],
  })
  const answer = { type: 'Responses', guards: guardsWith('secret'), contentType: 'application/json' } as const
  const { text } = pass(JSON.stringify(body('se', 'cret')), answer)
  expect(JSON.parse(text)).toEqual(body('<masked>', '<masked>'))
})

test('tokens are one text, whole and streamed', () => {
  const body = (...tokens: string[]) => ({
    choices: [{ index: 0, logprobs: { content: tokens.map((token) => ({ token, top_logprobs: [] })) } }],
  })
  const answer = (pattern: string) => ({ type: 'Completions' as const, guards: guardsWith(pattern) })
  for (const [pattern, isRefused] of [
    ['\\bb', false],
    ['ab', true],
    ['^a', true],
  ] as const) {
    const whole = pass(JSON.stringify(body('a', 'b')), { ...answer(pattern), contentType: 'application/json' })
    const stream = pass([body('a'), body('b')].map(sse).join(''), answer(pattern))
    const isEnded = stream.text.includes('guardrail_intervention')
    expect([whole.refusal !== undefined, isEnded]).toEqual([isRefused, isRefused])
  }
})

test.each<[what: string, pattern: string, parts: [begun: Event, rest: Event]]>([
  ['a text', '^a', [chunk({ content: 'x' }), chunk({ content: 'abc' })]],
  ['arguments', 'secret', [call('["a se'), call('cret"]')]],
])(
  '%s that go on after so many others have ended that they are forgotten end the stream',
  (_, pattern, [begun, rest]) => {
    const events = (count: number) => {
      const others = Array.from({ length: count }, (_, at) => [chunk({ content: 'y' }, at + 1), stop(at + 1)])
      return [begun, stop(), ...others.flat(), rest, stop()]
    }
    const remembered = passed('Completions', [pattern], events(63))
    expect(remembered === ENDED || !remembered.includes('<masked>')).toBe(true)
    expect(passed('Completions', [pattern], events(64))).toBe(ENDED)
  },
)

test('as many choices as a worker has room for are read together, each by itself', () => {
  const events = (count: number) => [
    ...Array.from({ length: count }, (_, index) => chunk({ reasoning_content: 'se' }, index)),
    ...Array.from({ length: count }, (_, index) => chunk({ content: index === count - 1 ? 'cret' : 'x' }, index)),
  ]
  expect(passed('Completions', ['secret'], events(200))).toBe(ENDED)
  expect(passed('Completions', ['secr\\.t'], events(200))).toContain('cret')
})
