import type { Effort, ModelFacts } from '../models/models.ts'
import type { ReasoningWish } from './conversation.ts'

/**
 * How much a model thinks, for all writers of requests (decisions B24 and B25): some models take a budget of tokens, others an effort.
 */
const SCALE: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** In tokens. */
const BUDGETS: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 2048,
  high: 4096,
  xhigh: 8192,
  max: 16384,
}

/** Smaller budgets are refused. */
const MIN_BUDGET = 1024

/** What a model means by thinking if a request does not say how much. */
const USUAL: Effort = 'high'

/** What the catalogue says about thinking. */
export type ThinkingFacts = Pick<ModelFacts, 'thinking' | 'alwaysThinks' | 'thinkingOff' | 'efforts'>

/** What a request to a model of the messages family says about thinking. */
export interface Thinking {
  readonly kind: 'budget' | 'adaptive' | 'disabled' | 'between_tools' | undefined
  /** With the kind `budget`. */
  readonly budget: number | undefined
  readonly effort: Effort | undefined
}

const UNSAID: Thinking = { kind: undefined, budget: undefined, effort: undefined }

/**
 * @param maxTokens of the whole answer, thoughts included
 * @param isForbidden the request has something that cannot stand beside thinking
 * @returns undefined if the wish cannot be kept; the request then has what `withoutThinking` returns
 */
export function thinkingFor(
  wish: ReasoningWish | undefined,
  facts: ThinkingFacts,
  maxTokens: number,
  isForbidden: boolean,
): Thinking | undefined {
  if (wish === undefined) return isForbidden ? withoutThinking(facts) : UNSAID
  if (wish.effort === 'none') return leastThinking(facts)
  if (wish.adaptive === false) return effortOnly(wish, facts, isForbidden)
  if (isForbidden || facts.thinking === 'none') return undefined
  if (facts.thinking !== 'budget') {
    const effort = wish.effort ?? (wish.budget === undefined ? undefined : effortOfBudget(wish.budget))
    return { kind: 'adaptive', budget: undefined, effort: effort && acceptedEffort(effort, facts.efforts) }
  }
  const budget = fittingBudget(wish, maxTokens)
  return budget < MIN_BUDGET ? undefined : { kind: 'budget', budget, effort: undefined }
}

/** The budget that a wish asks for, in tokens; 0 if it asks for none. */
export function wantedBudget({ budget, effort, adaptive }: ReasoningWish): number {
  return adaptive === false ? 0 : (budget ?? BUDGETS[effort ?? USUAL])
}

/** Half of the limit is left for the answer: the effort falls until it is. A number of tokens stays if it is below the limit. */
function fittingBudget(wish: ReasoningWish, maxTokens: number): number {
  const most = Math.floor(maxTokens / 2)
  if (wish.budget !== undefined) return wish.budget < maxTokens ? wish.budget : most
  const effort = wish.effort ?? USUAL
  return BUDGETS[SCALE.findLast((each) => isAtMost(each, effort) && BUDGETS[each] <= most) ?? 'none']
}

/** A model that thinks unasked must be told not to. */
export function withoutThinking({ thinkingOff }: ThinkingFacts): Thinking {
  return { ...UNSAID, kind: thinkingOff }
}

function leastThinking(facts: ThinkingFacts): Thinking {
  return facts.alwaysThinks ? { ...UNSAID, effort: acceptedEffort('none', facts.efforts) } : withoutThinking(facts)
}

function effortOnly({ effort }: ReasoningWish, facts: ThinkingFacts, isForbidden: boolean): Thinking | undefined {
  const { kind } = isForbidden ? withoutThinking(facts) : UNSAID
  // Without thinking, higher efforts are refused.
  const accepted = kind !== undefined ? facts.efforts.filter((each) => isAtMost(each, 'high')) : facts.efforts
  const written = effort && acceptedEffort(effort, accepted)
  return written === undefined ? undefined : { kind, budget: undefined, effort: written }
}

function isAtMost(effort: Effort, highest: Effort): boolean {
  return SCALE.indexOf(effort) <= SCALE.indexOf(highest)
}

/** The accepted effort that is nearest: the next lower one, or the lowest of all. Undefined if none is accepted. */
export function acceptedEffort(effort: Effort, accepted: readonly Effort[]): Effort | undefined {
  return accepted.findLast((each) => isAtMost(each, effort)) ?? accepted[0]
}

/** The effort that stands for a budget, for models that take no budget. More than the usual effort must be asked for by name. */
export function effortOfBudget(budget: number): Effort {
  if (budget >= BUDGETS.high) return 'high'
  return budget >= BUDGETS.medium ? 'medium' : 'low'
}
