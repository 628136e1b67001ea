import { rememberRecent } from '#base/remember-recent.ts'
import type { Vocabulary } from '#exchange/token-counter.ts'
import { bareModelName, reduceModelName } from '#models/model-names.ts'

/** How hard a model thinks, ascending. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof EFFORTS)[number]

// The model catalogue: what the vendors document about their models. The only place that knows models by name (decision B24).

export type ModelFamily =
  | 'claude'
  | 'gpt'
  | 'gpt-oss'
  | 'o-series'
  | 'gemini'
  | 'nova'
  | 'titan'
  | 'cohere'
  | 'llama'
  | 'mistral'
  | 'deepseek'
  | 'other'

/** Sampling fields by their names in chat completions; `top_k` exists in other dialects. */
export type SamplingField =
  | 'temperature'
  | 'top_p'
  | 'top_k'
  | 'frequency_penalty'
  | 'presence_penalty'
  | 'logit_bias'
  | 'logprobs'
  | 'stop'

/** What is known about a model. */
export interface ModelFacts {
  /** The name in the catalogue; undefined for a model that the catalogue does not list. */
  readonly name: string | undefined
  readonly family: ModelFamily
  /** For estimates of tokens. Models of other vendors have their own; the newer one of these is nearest to them (decision B36). */
  readonly vocabulary: Vocabulary
  /**
   * How a request asks for thinking: with a number of tokens, as `adaptive` with an effort beside it, or with an effort alone. `none`: the
   * model does not think.
   */
  readonly thinking: 'none' | 'budget' | 'adaptive' | 'effort'
  /** Thinking cannot be switched off. */
  readonly alwaysThinks: boolean
  /** How a request of the messages family says that the model must not think; undefined: by not asking for thinking. */
  readonly thinkingOff: 'disabled' | 'between_tools' | undefined
  /** Efforts that the model accepts, ascending; empty: it accepts no effort. */
  readonly efforts: readonly Effort[]
  /** Fields that the model refuses, whether it thinks or not. */
  readonly refused: readonly SamplingField[]
  /** Fields that it refuses in addition if the request asks for thinking. */
  readonly refusedWithThinking: readonly SamplingField[]
  /** It accepts only one of `temperature` and `top_p` in a request. */
  readonly hasOneTemperature: boolean
  /** A tool choice that forces a call is refused, with thinking or without. */
  readonly refusesForcedTools: boolean
  /** The model continues a last turn of the assistant; otherwise such a request is refused, or gets an answer to that turn. */
  readonly continuesTurn: boolean
  /** Shorter prompts are not cached; undefined: the model does not support cache marks, or caches by itself. */
  readonly cacheMinimumTokens: number | undefined
  /** Prompt and output together; undefined: not known. */
  readonly contextTokens: number | undefined
  readonly maxOutputTokens: number | undefined
}

/** Nothing is known: nothing is refused, and efforts are passed on. */
const UNKNOWN: ModelFacts = {
  name: undefined,
  family: 'other',
  vocabulary: 'o200k',
  thinking: 'effort',
  alwaysThinks: false,
  thinkingOff: undefined,
  efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
  refused: [],
  refusedWithThinking: [],
  hasOneTemperature: false,
  refusesForcedTools: false,
  continuesTurn: false,
  cacheMinimumTokens: undefined,
  contextTokens: undefined,
  maxOutputTokens: undefined,
}

type Known = Partial<Omit<ModelFacts, 'name' | 'family'>>

/** Names are separated by spaces. Names without dates stand for dated ones, too (`reduceModelName`). */
type Rows = readonly (readonly [names: string, facts: Known])[]

const NO_THINKING: Known = { thinking: 'none', efforts: [] }

/** 4.5 and older take a number of tokens; any thinking excludes other sampling. */
const CLAUDE_BUDGET: Known = {
  thinking: 'budget',
  efforts: [],
  continuesTurn: true,
  refusedWithThinking: ['temperature', 'top_p', 'top_k'],
  cacheMinimumTokens: 1024,
  contextTokens: 200_000,
  maxOutputTokens: 64_000,
}
const CLAUDE_4_6: Known = {
  ...CLAUDE_BUDGET,
  thinking: 'adaptive',
  efforts: ['low', 'medium', 'high', 'max'],
  continuesTurn: false,
  hasOneTemperature: true,
  cacheMinimumTokens: 4096,
  contextTokens: 1_000_000,
  maxOutputTokens: 128_000,
}
/** From 4.7 on, sampling fields and numbers of thinking tokens are refused. */
const CLAUDE_4_7: Known = {
  thinking: 'adaptive',
  efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
  refused: ['temperature', 'top_p', 'top_k'],
  cacheMinimumTokens: 1024,
  contextTokens: 1_000_000,
  maxOutputTokens: 128_000,
}
/** They think unless a request says otherwise. */
const CLAUDE_5: Known = { ...CLAUDE_4_7, thinkingOff: 'disabled' }
const CLAUDE_ALWAYS_THINKS: Known = { ...CLAUDE_4_7, alwaysThinks: true, cacheMinimumTokens: 512 }
const CLAUDE_3: Known = {
  ...NO_THINKING,
  continuesTurn: true,
  cacheMinimumTokens: 2048,
  contextTokens: 200_000,
  maxOutputTokens: 4096,
}

const CLAUDE: Rows = [
  ['claude-opus-5-5', { ...CLAUDE_ALWAYS_THINKS, refusesForcedTools: true }],
  [
    'claude-fable-5-2 claude-fable-5-1 claude-mythos-5-2 claude-mythos-5-1',
    { ...CLAUDE_ALWAYS_THINKS, refusesForcedTools: true },
  ],
  ['claude-fable-5 claude-mythos-5', CLAUDE_ALWAYS_THINKS],
  ['claude-sonnet-5-5', { ...CLAUDE_5, thinkingOff: 'between_tools', refusesForcedTools: true }],
  ['claude-haiku-5-5 claude-sonnet-5', CLAUDE_5],
  ['claude-opus-4-8', CLAUDE_4_7],
  ['claude-opus-5', { ...CLAUDE_5, cacheMinimumTokens: 512 }],
  ['claude-opus-4-7', { ...CLAUDE_4_7, cacheMinimumTokens: 2048 }],
  ['claude-mythos-preview', { ...CLAUDE_4_7, efforts: ['low', 'medium', 'high', 'max'] }],
  ['claude-opus-4-6', CLAUDE_4_6],
  ['claude-sonnet-4-6', { ...CLAUDE_4_6, cacheMinimumTokens: 1024 }],
  [
    'claude-opus-4-5',
    { ...CLAUDE_BUDGET, efforts: ['low', 'medium', 'high'], hasOneTemperature: true, cacheMinimumTokens: 4096 },
  ],
  ['claude-haiku-4-5', { ...CLAUDE_BUDGET, hasOneTemperature: true, cacheMinimumTokens: 4096 }],
  ['claude-sonnet-4-5', { ...CLAUDE_BUDGET, hasOneTemperature: true }],
  ['claude-opus-4-1', { ...CLAUDE_BUDGET, hasOneTemperature: true, maxOutputTokens: 32_000 }],
  ['claude-opus-4 claude-opus-4-0', { ...CLAUDE_BUDGET, maxOutputTokens: 32_000 }],
  ['claude-sonnet-4 claude-sonnet-4-0 claude-3-7-sonnet', CLAUDE_BUDGET],
  ['claude-3-5-haiku', { ...CLAUDE_3, maxOutputTokens: 8192 }],
  ['claude-3-5-sonnet', { ...CLAUDE_3, cacheMinimumTokens: 1024, maxOutputTokens: 8192 }],
  ['claude-3-opus claude-3-sonnet', { ...CLAUDE_3, cacheMinimumTokens: 1024 }],
  ['claude-3-haiku', CLAUDE_3],
  ['claude-2.1 claude-v2:1', { ...CLAUDE_3, cacheMinimumTokens: undefined }],
  [
    'claude-2.0 claude-v2 claude-instant-1.2 claude-instant',
    { ...CLAUDE_3, cacheMinimumTokens: undefined, contextTokens: 100_000 },
  ],
]

const CHAT_SAMPLING = [
  'temperature',
  'top_p',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  'logprobs',
] as const
const THROUGH_MAX: readonly Effort[] = ['none', 'low', 'medium', 'high', 'xhigh', 'max']
const UP_TO_HIGH: readonly Effort[] = ['low', 'medium', 'high']

const GPT_4: Known = { ...NO_THINKING, contextTokens: 128_000, maxOutputTokens: 16_384 }
const GPT_4_TURBO: Known = { ...GPT_4, vocabulary: 'cl100k', maxOutputTokens: 4096 }
const GPT_5: Known = {
  thinking: 'effort',
  alwaysThinks: true,
  efforts: ['minimal', ...UP_TO_HIGH],
  refused: CHAT_SAMPLING,
  contextTokens: 400_000,
  maxOutputTokens: 128_000,
}
/** From 5.1 on, thinking can be switched off; only then they sample as told. */
const GPT_5_1: Known = {
  ...GPT_5,
  alwaysThinks: false,
  efforts: ['none', ...UP_TO_HIGH],
  refused: [],
  refusedWithThinking: CHAT_SAMPLING,
}
const GPT_5_2: Known = { ...GPT_5_1, efforts: ['none', ...UP_TO_HIGH, 'xhigh'] }
const GPT_5_4: Known = { ...GPT_5_2, contextTokens: 1_050_000 }
const GPT_5_6: Known = { ...GPT_5_4, efforts: THROUGH_MAX }
const GPT_CODEX: Known = { ...GPT_5, efforts: [...UP_TO_HIGH, 'xhigh'] }
const GPT_PRO: Known = { ...GPT_5, efforts: ['medium', 'high', 'xhigh'] }

const GPT: Rows = [
  ['gpt-6.2-sol gpt-6.1-sol gpt-6.1-terra gpt-6-sol gpt-6-luna', GPT_5_6],
  [
    'gpt-6.2-astra gpt-6-astra',
    { ...GPT_5_6, alwaysThinks: true, efforts: THROUGH_MAX.slice(1), refused: CHAT_SAMPLING },
  ],
  ['gpt-5.6 gpt-5.6-sol gpt-5.6-terra gpt-5.6-luna', GPT_5_6],
  ['gpt-5.5 gpt-5.4', GPT_5_4],
  ['gpt-5.5-pro gpt-5.4-pro', { ...GPT_PRO, contextTokens: 1_050_000 }],
  ['gpt-5.4-mini gpt-5.4-nano gpt-5.2', GPT_5_2],
  ['gpt-5.2-pro', GPT_PRO],
  ['gpt-5.3-codex gpt-5.2-codex gpt-5.1-codex-max', GPT_CODEX],
  ['gpt-5.1-codex gpt-5.1-codex-mini gpt-5-codex codex-mini-latest', { ...GPT_CODEX, efforts: UP_TO_HIGH }],
  ['gpt-5.1 gpt-5.1-mini', GPT_5_1],
  ['gpt-5-pro', { ...GPT_PRO, efforts: ['high'], maxOutputTokens: 272_000 }],
  ['gpt-5 gpt-5-mini gpt-5-nano', GPT_5],
  ['gpt-5.3-chat-latest gpt-5.2-chat-latest gpt-5.1-chat-latest gpt-5-chat-latest gpt-5-chat', GPT_4],
  ['chatgpt-4o-latest gpt-4o gpt-4o-mini', GPT_4],
  ['gpt-4o-search-preview gpt-4o-mini-search-preview', { ...GPT_4, refused: CHAT_SAMPLING }],
  ['gpt-audio gpt-audio-mini gpt-4o-audio-preview gpt-4o-mini-audio-preview', GPT_4],
  ['gpt-realtime gpt-realtime-mini gpt-4o-realtime-preview gpt-4o-mini-realtime-preview', GPT_4],
  ['gpt-4.1 gpt-4.1-mini gpt-4.1-nano', { ...GPT_4, contextTokens: 1_047_576, maxOutputTokens: 32_768 }],
  ['gpt-4-turbo gpt-4-turbo-preview gpt-4-1106-preview gpt-4-0125-preview gpt-4-vision-preview', GPT_4_TURBO],
  ['gpt-4-32k', { ...GPT_4_TURBO, contextTokens: 32_768, maxOutputTokens: 8192 }],
  ['gpt-4', { ...GPT_4_TURBO, contextTokens: 8192, maxOutputTokens: 8192 }],
  ['gpt-3.5-turbo gpt-3.5-turbo-16k gpt-35-turbo', { ...GPT_4_TURBO, contextTokens: 16_385 }],
  [
    'text-embedding-3-large text-embedding-3-small text-embedding-ada-002',
    { ...NO_THINKING, vocabulary: 'cl100k', contextTokens: 8192 },
  ],
]

const GPT_OSS: Rows = [
  [
    'gpt-oss-120b gpt-oss-20b gpt-oss-120b-1 gpt-oss-20b-1',
    { alwaysThinks: true, efforts: UP_TO_HIGH, contextTokens: 131_072, maxOutputTokens: 131_072 },
  ],
]

const O_SERIES_FACTS: Known = {
  thinking: 'effort',
  alwaysThinks: true,
  efforts: UP_TO_HIGH,
  refused: [...CHAT_SAMPLING, 'stop'],
  contextTokens: 200_000,
  maxOutputTokens: 100_000,
}

const O_SERIES: Rows = [
  ['o4-mini o3 o3-pro o4-mini-deep-research o3-deep-research', O_SERIES_FACTS],
  ['o3-mini o1 o1-pro', { ...O_SERIES_FACTS, refused: CHAT_SAMPLING }],
  [
    'o1-preview',
    { ...O_SERIES_FACTS, efforts: [], refused: CHAT_SAMPLING, contextTokens: 128_000, maxOutputTokens: 32_768 },
  ],
  [
    'o1-mini',
    { ...O_SERIES_FACTS, efforts: [], refused: CHAT_SAMPLING, contextTokens: 128_000, maxOutputTokens: 65_536 },
  ],
]

/** Efforts are those of the endpoint that is compatible with chat completions. */
const GEMINI_3: Known = {
  thinking: 'effort',
  alwaysThinks: true,
  efforts: ['minimal', ...UP_TO_HIGH],
  contextTokens: 1_048_576,
  maxOutputTokens: 65_536,
}
const GEMINI_3_PRO: Known = { ...GEMINI_3, efforts: UP_TO_HIGH }
const GEMINI_2_5: Known = { ...GEMINI_3, alwaysThinks: false, efforts: ['none', ...UP_TO_HIGH] }

const GEMINI: Rows = [
  ['gemini-3.8-flash', GEMINI_3_PRO],
  ['gemini-3.6-flash gemini-3.5-flash gemini-3.1-flash-lite gemini-3-flash gemini-3-flash-preview', GEMINI_3],
  ['gemini-3.1-pro gemini-3.1-pro-preview gemini-3-pro gemini-3-pro-preview', GEMINI_3_PRO],
  ['gemini-2.5-pro', { ...GEMINI_2_5, alwaysThinks: true, efforts: UP_TO_HIGH }],
  ['gemini-2.5-flash gemini-2.5-flash-lite', GEMINI_2_5],
  ['gemini-2.0-flash gemini-2.0-flash-lite', { ...NO_THINKING, contextTokens: 1_048_576, maxOutputTokens: 8192 }],
  ['gemini-1.5-pro gemini-1.5-flash', { ...NO_THINKING, contextTokens: 1_048_576, maxOutputTokens: 8192 }],
  [
    'gemini-embedding-001 gemini-embedding-2 text-embedding-005 text-embedding-004',
    { ...NO_THINKING, contextTokens: 2048 },
  ],
  ['text-multilingual-embedding-002 multimodalembedding@001', { ...NO_THINKING, contextTokens: 2048 }],
]

const NOVA_1: Known = { ...NO_THINKING, cacheMinimumTokens: 1000, contextTokens: 300_000, maxOutputTokens: 10_000 }

const NOVA: Rows = [
  [
    'nova-2-lite nova-2-pro',
    {
      thinking: 'effort',
      efforts: UP_TO_HIGH,
      refusedWithThinking: ['temperature', 'top_p', 'top_k'],
      cacheMinimumTokens: 1000,
      contextTokens: 1_000_000,
      maxOutputTokens: 65_536,
    },
  ],
  ['nova-premier', { ...NOVA_1, contextTokens: 1_000_000 }],
  ['nova-pro nova-lite', NOVA_1],
  ['nova-micro', { ...NOVA_1, contextTokens: 128_000 }],
  ['nova-2-multimodal-embeddings', { ...NO_THINKING, contextTokens: 8192 }],
]

const TITAN: Rows = [
  ['titan-embed-text-v2 titan-embed-text-v1', { ...NO_THINKING, contextTokens: 8192 }],
  ['titan-embed-image titan-embed-image-v1', { ...NO_THINKING, contextTokens: 256 }],
]

const COHERE_CHAT: Known = { ...NO_THINKING, contextTokens: 128_000, maxOutputTokens: 4096 }

const COHERE: Rows = [
  ['command-a', { ...COHERE_CHAT, contextTokens: 256_000, maxOutputTokens: 8192 }],
  ['command-r-plus command-r command-r7b', COHERE_CHAT],
  ['embed-v4 embed-v4.0', { ...NO_THINKING, contextTokens: 128_000 }],
  [
    'embed-english-v3 embed-multilingual-v3 embed-english-v3.0 embed-multilingual-v3.0',
    { ...NO_THINKING, contextTokens: 512 },
  ],
]

const LLAMA_3: Known = { ...NO_THINKING, contextTokens: 128_000, maxOutputTokens: 8192 }

const LLAMA: Rows = [
  ['llama4-maverick-17b-instruct', { ...LLAMA_3, contextTokens: 1_000_000 }],
  ['llama4-scout-17b-instruct', { ...LLAMA_3, contextTokens: 3_500_000 }],
  ['llama3-3-70b-instruct llama-3.3-70b-instruct llama3-2-90b-instruct llama3-2-11b-instruct', LLAMA_3],
  ['llama3-2-3b-instruct llama3-2-1b-instruct llama3-1-405b-instruct llama3-1-70b-instruct', LLAMA_3],
  ['llama3-1-8b-instruct llama-3.1-8b-instruct llama-3.1-70b-instruct', LLAMA_3],
  ['llama3-70b-instruct llama3-8b-instruct', { ...LLAMA_3, contextTokens: 8192, maxOutputTokens: 2048 }],
]

const MISTRAL_CHAT: Known = { ...NO_THINKING, contextTokens: 128_000, maxOutputTokens: 8192 }

const MISTRAL: Rows = [
  ['mistral-large mistral-medium mistral-small pixtral-large ministral-8b ministral-3b codestral', MISTRAL_CHAT],
  ['mixtral-8x7b-instruct mistral-7b-instruct', { ...MISTRAL_CHAT, contextTokens: 32_000 }],
]

const DEEPSEEK: Rows = [
  [
    'deepseek-chat deepseek-v3 deepseek-v3.1 deepseek-v3.2',
    { ...NO_THINKING, contextTokens: 128_000, maxOutputTokens: 8192 },
  ],
  [
    'deepseek-reasoner deepseek-r1',
    { thinking: 'none', alwaysThinks: true, efforts: [], contextTokens: 128_000, maxOutputTokens: 32_768 },
  ],
]

/** The first family whose pattern matches. Rows are in order of age: a model without a row is like the first one. */
const FAMILIES: readonly (readonly [ModelFamily, pattern: RegExp, Rows])[] = [
  ['claude', /^claude-/, CLAUDE],
  ['gpt-oss', /^gpt-oss/, GPT_OSS],
  ['gpt', /^(?:chat)?gpt-/, GPT],
  ['o-series', /^o\d/, O_SERIES],
  ['gemini', /^gemini-/, GEMINI],
  ['nova', /^nova-/, NOVA],
  ['titan', /^titan-/, TITAN],
  ['cohere', /^(?:command|embed)-/, COHERE],
  ['llama', /^llama/, LLAMA],
  ['mistral', /^(?:open-)?(?:mistral|mixtral|ministral|magistral|pixtral|codestral|devstral)/, MISTRAL],
  ['deepseek', /^deepseek-/, DEEPSEEK],
]

const LISTED: ReadonlyMap<string, ModelFacts> = new Map(FAMILIES.flatMap(([family, , rows]) => listRows(family, rows)))

function listRows(family: ModelFamily, rows: Rows): [string, ModelFacts][] {
  return rows.flatMap(([names, facts]) =>
    names.split(' ').map((name): [string, ModelFacts] => [name, { ...UNKNOWN, ...facts, family, name }]),
  )
}

/** Facts about models without a row, by family. */
const NEWEST: ReadonlyMap<ModelFamily, ModelFacts> = new Map(
  FAMILIES.map(([family, , [first]]) => [family, { ...UNKNOWN, ...first![1], family }]),
)

/**
 * Facts about a model by its name on any platform. A name that is not listed stands for the newest model of its family, of which vendors
 * publish new ones all the time (decision B24); without a family nothing is known.
 */
export function modelOf(name: string): ModelFacts {
  return LISTED.get(name) ?? findRecent(name)
}

/** Reducing a name takes longer than reading a small request. */
const findRecent = rememberRecent(findModel)

function findModel(name: string): ModelFacts {
  const listed = findReduced(name)
  if (listed !== undefined) return listed
  const bare = bareModelName(name)
  const family = FAMILIES.find(([, pattern]) => pattern.test(bare))
  return family === undefined ? UNKNOWN : NEWEST.get(family[0])!
}

function findReduced(name: string): ModelFacts | undefined {
  const reduced = reduceModelName(name, (each) => LISTED.has(each))
  return reduced === undefined ? undefined : LISTED.get(reduced)
}
