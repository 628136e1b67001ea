import { guardedReply } from './guards.ts'

/** What a model says, in the words of no API. */
export interface Reply {
  readonly thought?: { readonly text: string; readonly signature: string }
  /** Streamed in these pieces. */
  readonly texts?: readonly string[]
  readonly calls?: readonly Call[]
  readonly end: 'stop' | 'length' | 'calls' | 'refusal'
}

export interface Call {
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

/** What a mock finds in a request of its API. */
export interface Seen {
  readonly streamed: boolean
  /** Tokens that the model may write. */
  readonly limit: number | undefined
  readonly tools: readonly string[]
  readonly results: readonly { readonly id: string; readonly text: string }[]
  readonly schema: unknown
  /** Base64. */
  readonly images: readonly string[]
  /** Signatures of thoughts that came back. */
  readonly signatures: readonly string[]
  /** Its thoughts are encrypted. */
  readonly encrypts?: boolean
  /** The client wants the vendor to keep the conversation; the mock keeps none. */
  readonly stores?: boolean
  /** What the vendor would refuse. */
  readonly faults: readonly string[]
}

export const TEXTS = ['Grüße, ', '世界', '.']
export const PROMPT = 'Say hello to the world.'
export const THOUGHT = 'The weather decides.'
export const REFUSAL = 'I cannot help with that.'
export const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
export const WEATHER = { city: 'Oslo', degrees: 12 }
export const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'integer' } },
  required: ['city', 'degrees'],
  additionalProperties: false,
} as const
export const PARAMETERS = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
} as const
export const TOOL = { name: 'weather', description: 'The weather of a city.', parameters: PARAMETERS } as const
/** What a tool says about a city. */
export const resultOf = (city: string) => `${city}: ${city.length * 3} degrees`
/** Input includes what was read from a cache, output what was thought. */
export const USAGE = { input: 11, cached: 4, output: 7 } as const

const CALLS: readonly Call[] = [
  { id: 'call_Oslo1', name: 'weather', input: { city: 'Oslo' } },
  { id: 'call_Rome2', name: 'weather', input: { city: 'Rome' } },
]

/** Statuses with which a vendor refuses. */
export const REFUSED = [400, 401, 429, 500, 529] as const
export const ERROR_MESSAGE = 'The vendor says no.'
export const RETRY_AFTER = '7'

/** Says to Gemini that another model made a call. */
const UNSIGNED = 'skip_thought_signature_validator'

/** Models of a family take the signatures of each other, wherever they run. Those of Nova sign nothing. */
function signatureOf(model: string): string {
  const family = /claude|gemini|nova/.exec(model)?.[0] ?? 'gpt'
  return family === 'nova' ? '' : Buffer.from(`a signature of ${family} `.repeat(4)).toString('base64')
}

/** What the model says to a request of a scenario; a text: what is wrong with the request. */
export function replyTo(scenario: string, seen: Seen, model: string): Reply | string {
  if (seen.faults.length > 0) return seen.faults.join('; ')
  const own = signatureOf(model)
  const foreign = seen.signatures.filter((signature) => ![own, '', UNSIGNED].includes(signature))
  // Chat completions of others ignore them.
  if ((seen.encrypts || /claude|gemini/.test(model)) && foreign.length > 0) return 'Invalid signature of a thought'
  if (scenario.startsWith('guard-')) return guardedReply(scenario, seen)
  switch (scenario) {
    case 'image':
      return seen.images.includes(DOT) ? says('A red dot.') : `the image did not arrive: ${JSON.stringify(seen.images)}`
    case 'structured': {
      // Some clients have the model call a tool instead.
      if (seen.tools.includes('json'))
        return { calls: [{ id: 'call_json', name: 'json', input: WEATHER }], end: 'calls' }
      const given = JSON.stringify(seen.schema)
      if (given === undefined || !given.includes('"degrees"')) return `the schema did not arrive: ${given}`
      return says(JSON.stringify(WEATHER))
    }
    case 'length':
      if (seen.limit !== 16) return `the limit is ${seen.limit} instead of 16`
      return { texts: ['Once ', 'upon'], end: 'length' }
    case 'refusal':
      return { end: 'refusal' }
    case 'moved':
    case 'thinking':
    case 'thinking-stream': {
      const reply = afterTools(seen, CALLS.slice(0, 1))
      if (typeof reply === 'string') return reply
      if (reply.calls !== undefined) return { ...reply, thought: { text: THOUGHT, signature: own } }
      if (scenario === 'moved') return reply
      return {
        ...reply,
        texts: [own !== '' && seen.signatures.includes(own) ? 'The thought came back.' : 'No thought came back.'],
      }
    }
    case 'tools':
    case 'runner':
      return afterTools(seen, CALLS.slice(0, 1))
    case 'parallel':
      return afterTools(seen, CALLS)
    default:
      return { texts: TEXTS, end: 'stop' }
  }
}

function says(text: string): Reply {
  return { texts: [text.slice(0, 4), text.slice(4)], end: 'stop' }
}

/** Calls tools; then, with their results, a text. */
function afterTools(seen: Seen, calls: readonly Call[]): Reply | string {
  if (!seen.tools.includes(TOOL.name)) return `the tools are ${JSON.stringify(seen.tools)}`
  if (seen.results.length === 0) return { texts: ['I look.'], calls, end: 'calls' }
  const expected = calls.map(({ id, input }) => ({ id, text: resultOf(String(input.city)) }))
  const given = JSON.stringify(seen.results)
  if (given !== JSON.stringify(expected)) return `the results are ${given} instead of ${JSON.stringify(expected)}`
  return says(`It is done: ${expected.map(({ text }) => text).join(', ')}.`)
}

/** The text after results. */
export const doneWith = (...cities: readonly string[]) => `It is done: ${cities.map(resultOf).join(', ')}.`
