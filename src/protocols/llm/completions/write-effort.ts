import type { ModelFacts } from '../models/models.ts'
import type { Conversation, Effort, ReasoningWish } from '../translation/conversation.ts'
import { acceptedEffort, effortOfBudget } from '../translation/efforts.ts'
import type { Losses } from '../translation/losses.ts'
import type { TargetModel } from './target-model.ts'

/** What a wish means that does not say how much. */
const USUAL: Effort = 'high'

/** The effort as the model accepts it. What it cannot do is a loss. */
export function writeEffort(
  { reasoning, tools }: Conversation,
  { facts, thinksWithoutTools }: TargetModel,
  losses: Losses,
): Effort | undefined {
  if (thinksWithoutTools && tools.length > 0) {
    if (reasoning !== undefined && reasoning.effort !== 'none') {
      losses.drop(reasoning.origin, 'the model does not think in chat completions with tools')
    }
    return 'none'
  }
  if (reasoning === undefined) return undefined
  const effort = effortOf(reasoning, facts)
  // A model that does not think unless asked to does what `none` asks for.
  if (effort === undefined || (effort === 'none' && !facts.alwaysThinks && !facts.efforts.includes('none')))
    return undefined
  const written = acceptedEffort(effort, facts.efforts)
  if (written === undefined) losses.drop(reasoning.origin)
  return written
}

/** Of a model without name, it is not known whether it accepts an effort: only one that the client names is written. */
function effortOf({ effort, budget }: ReasoningWish, { family }: ModelFacts): Effort | undefined {
  if (effort !== undefined) return effort === 'none' && family === 'other' ? undefined : effort
  if (family === 'other') return undefined
  return budget === undefined ? USUAL : effortOfBudget(budget)
}
