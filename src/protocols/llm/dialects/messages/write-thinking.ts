import type { OutputConfig, ThinkingConfigParam } from '@anthropic-ai/sdk/resources/messages/messages'
import type { Conversation } from '../../chat/conversation.ts'
import { type Thinking, thinkingFor, withoutThinking } from '../../chat/efforts.ts'
import type { Losses } from '../../chat/losses.ts'
import { isForced } from '../../chat/offered-tools.ts'
import type { ModelFacts } from '../../models/models.ts'

/** What a request to a model of the messages family says about thinking; Converse passes it on. */
export interface WrittenThinking {
  readonly isThinking: boolean
  readonly thinking: ThinkingConfigParam | undefined
  readonly effort: OutputConfig['effort'] | undefined
}

/** @param lacksThought see `ArrangedTurns` */
export function writeThinking(
  conversation: Conversation,
  facts: ModelFacts,
  maxTokens: number,
  lacksThought: boolean,
  losses: Losses,
): WrittenThinking {
  const { reasoning } = conversation
  const isForbidden = isForced(conversation, facts) || (lacksThought && facts.thinking === 'budget')
  const found = thinkingFor(reasoning, facts, maxTokens, isForbidden)
  if (found === undefined && reasoning !== undefined) {
    losses.drop(reasoning.origin, 'the model does not support thinking in this request')
  }
  const thinking = found ?? withoutThinking(facts)
  return {
    isThinking: thinking.kind === 'budget' || thinking.kind === 'adaptive',
    thinking: thinking.kind === undefined ? undefined : configOf(thinking, conversation),
    effort: effortOf(thinking),
  }
}

function configOf({ kind, budget = 0 }: Thinking, { reasoning }: Conversation): ThinkingConfigParam {
  const display = reasoning?.summary === true ? ({ display: 'summarized' } as const) : {}
  switch (kind) {
    case 'budget':
      return { type: 'enabled', budget_tokens: budget, ...display }
    case 'adaptive':
      return { type: 'adaptive', ...display }
    case 'between_tools':
      return { type: kind }
    default:
      return { type: 'disabled' }
  }
}

/** There is no lower effort. */
function effortOf({ effort }: Thinking): OutputConfig['effort'] {
  return effort === 'none' || effort === 'minimal' ? 'low' : effort
}
