import type { Conversation, Part, Tool } from '../../chat/conversation.ts'
import type { Losses } from '../../chat/losses.ts'
import { type PromptCaching, reachesTokens } from '../../chat/prompt-caching.ts'
import type { ModelFacts } from '../../models/models.ts'
import { isOwnProfile } from './own-profile.ts'

interface CachePoint {
  readonly cachePoint: { readonly type: 'default' }
}

interface Blocks {
  push(point: CachePoint): unknown
}

const POINT: CachePoint = { cachePoint: { type: 'default' } }

/**
 * The points up to which the model keeps a prompt: those that the client marked, else those of the policy.
 */
export class CachePoints {
  readonly #losses: Losses
  readonly #isKnown: boolean
  readonly #takesTools: boolean
  readonly #automatic: PromptCaching | undefined

  constructor(
    conversation: Conversation,
    { family, cacheMinimumTokens }: ModelFacts,
    caching: PromptCaching | undefined,
    losses: Losses,
  ) {
    this.#losses = losses
    this.#isKnown = cacheMinimumTokens !== undefined || isOwnProfile(conversation.model)
    this.#takesTools = family !== 'nova'
    const isWanted = caching !== undefined && this.#isKnown && !hasMarks(conversation)
    this.#automatic = isWanted && reachesTokens(conversation, caching.minTokens) ? caching : undefined
  }

  mark(blocks: Blocks, part: Part): void {
    if (part.cached === true) this.#mark(blocks, part, this.#isKnown)
  }

  markTool(blocks: Blocks, tool: Tool): void {
    if (tool.cached === true) this.#mark(blocks, tool, this.#isKnown && this.#takesTools)
  }

  addToTools(blocks: Blocks): void {
    if (this.#automatic?.cacheTools === true && this.#takesTools) blocks.push(POINT)
  }

  addToSystem(blocks: Blocks): void {
    if (this.#automatic?.cacheSystem === true) blocks.push(POINT)
  }

  addToMessages(messages: readonly { readonly content: Blocks }[]): void {
    if (this.#automatic?.cacheMessages !== true || messages.length < 2) return
    const index = Math.max(0, messages.length - 2 - this.#automatic.cacheMessageOffset)
    messages[index]!.content.push(POINT)
  }

  #mark(blocks: Blocks, { origin }: Part | Tool, isTaken: boolean): void {
    if (isTaken) blocks.push(POINT)
    else this.#losses.drop(origin, 'the model does not support a cache point here')
  }
}

function hasMarks({ turns, tools }: Conversation): boolean {
  return tools.some(({ cached }) => cached) || turns.some(({ parts }) => parts.some(({ cached }) => cached))
}
