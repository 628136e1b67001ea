import type { Conversation, ReasoningWish } from '../../chat/conversation.ts'
import { thinkingFor } from '../../chat/efforts.ts'
import type { Losses } from '../../chat/losses.ts'
import { asIs } from '../../json/write-json.ts'
import type { Effort, ModelFacts, ModelFamily } from '../../models/models.ts'
import { writeThinking } from '../messages/write-thinking.ts'
import { isOwnProfile } from './own-profile.ts'

/** Parameters that a family of models has besides those of all models, as its vendor names them. */
export interface ModelFields {
  readonly fields: Readonly<Record<string, unknown>>
  readonly isThinking: boolean
  readonly takesMaxTokens: boolean
  topK(value: number | undefined): Readonly<Record<string, unknown>>
}

/** @param lacksThought see `ArrangedTurns` */
export function writeModelFields(
  conversation: Conversation,
  facts: ModelFacts,
  maxTokens: number,
  lacksThought: boolean,
  losses: Losses,
): ModelFields {
  const { user, sampling } = conversation
  if (user !== undefined && facts.family !== 'claude') losses.drop(user)
  const writeTopK = TOP_K[facts.family]
  if (sampling.topK !== undefined && writeTopK === undefined) losses.drop(sampling.topK)
  const topK: ModelFields['topK'] = (value) => (value === undefined ? {} : (writeTopK?.(value) ?? {}))
  if (facts.family === 'claude') {
    const { isThinking, thinking, effort } = writeThinking(conversation, facts, maxTokens, lacksThought, losses)
    const fields = {
      ...(thinking !== undefined && { thinking }),
      ...(effort !== undefined && { output_config: { effort } }),
      ...(user !== undefined && { metadata: { user_id: asIs<string>(user.json) } }),
    }
    return { fields, isThinking, takesMaxTokens: true, topK }
  }
  return { ...writeReasoning(conversation, facts, maxTokens, losses), topK }
}

const TOP_K: { readonly [Family in ModelFamily]?: (value: number) => Readonly<Record<string, unknown>> } = {
  claude: (value) => ({ top_k: value }),
  nova: (value) => ({ inferenceConfig: { topK: value } }),
  mistral: (value) => ({ top_k: value }),
  cohere: (value) => ({ k: value }),
}

type WrittenThinking = Omit<ModelFields, 'topK'>

const NOTHING: WrittenThinking = { fields: {}, isThinking: false, takesMaxTokens: true }

function writeReasoning(
  conversation: Conversation,
  facts: ModelFacts,
  maxTokens: number,
  losses: Losses,
): WrittenThinking {
  const { reasoning } = conversation
  if (reasoning === undefined) return NOTHING
  const found = thinkingFor(reasoning, facts, maxTokens, false)
  const effort = found?.effort ?? (found?.kind === 'adaptive' ? USUAL_EFFORT : undefined)
  const written = effort === undefined ? undefined : writeEffort(effort, conversation, facts.family, losses)
  if (written !== undefined) return written
  if (found === undefined || effort !== undefined) {
    losses.drop(reasoning.origin, 'the model has no settings for thinking')
  }
  return NOTHING
}

const USUAL_EFFORT = 'medium'

function writeEffort(
  effort: Effort,
  { model, reasoning, maxTokens }: Conversation,
  family: ModelFamily,
  losses: Losses,
): WrittenThinking | undefined {
  switch (family) {
    case 'nova': {
      // The model thinks as long as it likes with the highest effort, and refuses limits.
      const takesMaxTokens = effort !== 'high'
      if (!takesMaxTokens && maxTokens !== undefined) {
        losses.drop(reasoning!.origin, 'without max tokens, which the model refuses with this effort')
      }
      const fields = { reasoningConfig: { type: 'enabled', maxReasoningEffort: effort } }
      return { fields, isThinking: true, takesMaxTokens }
    }
    case 'gpt':
    case 'gpt-oss':
    case 'o-series':
      return { ...NOTHING, fields: { reasoning_effort: effort }, isThinking: effort !== 'none' }
    case 'other':
      return isOwnProfile(model) ? writeAsAsked(reasoning!) : undefined
    default:
      return undefined
  }
}

/** Who asks in the words of the messages API has a model of that family. */
function writeAsAsked({ budget, adaptive, effort }: ReasoningWish): WrittenThinking | undefined {
  if (budget === undefined && adaptive !== true) return undefined
  const thinking = budget === undefined ? { type: 'adaptive' } : { type: 'enabled', budget_tokens: budget }
  const fields = { thinking, ...(effort !== undefined && { output_config: { effort } }) }
  return { ...NOTHING, fields, isThinking: true }
}
