import { bareModelName } from '#models/model-names.ts'
import type { Loops } from '../../chat/loops.ts'
import type { Losses } from '../../chat/losses.ts'
import type { TargetNames } from '../../chat/target-names.ts'
import { type ModelFacts, modelOf } from '../../models/models.ts'

/** How a model takes back its thoughts: in no way, beside the call that they led to, or as text. */
type TakesThoughts = 'never' | 'by-call' | 'as-text'

/** What a model accepts in chat completions. */
export interface TargetModel {
  readonly facts: ModelFacts
  /** It is a model of the API's own vendor, and refuses `max_tokens` (decision B27). */
  readonly refusesOldLimit: boolean
  /** It accepts marks where prompts are worth caching. */
  readonly takesCacheMarks: boolean
  /** With tools, it takes requests only if they switch thinking off. */
  readonly thinksWithoutTools: boolean
  readonly thoughts: TakesThoughts
  /** It searches the web, and takes `web_search_options`. */
  readonly searches: boolean
  /** It refuses calls in the history without the signature of their thought. */
  readonly requiresSignatures: boolean
}

/** What the writers of turns need to know. */
export interface TurnsTarget {
  readonly names: TargetNames
  readonly target: TargetModel
  readonly loops: Loops
  readonly losses: Losses
}

/** Models of OpenAI for searches, and those of Perplexity. */
const SEARCHES = /^(?:gpt-\d.*-search|sonar)/
const FIRST_WITH_CACHE_MARKS = 5.06
/** From here on, thinking together with tools is only in the responses API. */
const FIRST_WITHOUT_TOOLS = 5.03

export function targetModel(name: string): TargetModel {
  const facts = modelOf(name)
  const { family } = facts
  const version = family === 'gpt' ? versionOf(name) : 0
  return {
    facts,
    refusesOldLimit: refusesOldLimit(name),
    takesCacheMarks: version >= FIRST_WITH_CACHE_MARKS,
    thinksWithoutTools: version >= FIRST_WITHOUT_TOOLS && facts.efforts.includes('none'),
    thoughts: takesThoughts(family),
    searches: SEARCHES.test(bareModelName(name)),
    requiresSignatures: family === 'gemini' && !/^gemini-[12]\b/.test(bareModelName(name)),
  }
}

function takesThoughts(family: ModelFacts['family']): TakesThoughts {
  if (family === 'gpt' || family === 'o-series') return 'never'
  return family === 'gemini' ? 'by-call' : 'as-text'
}

/** 5.06 is 5.6. */
function versionOf(name: string): number {
  const [, major, minor] = /^gpt-(\d+)(?:\.(\d+))?/.exec(bareModelName(name)) ?? []
  return Number(major ?? 0) + Number(minor ?? 0) / 100
}

/** Models that refuse `max_tokens`. */
export function refusesOldLimit(name: string): boolean {
  return /^(?:gpt-|o\d)/.test(name)
}
