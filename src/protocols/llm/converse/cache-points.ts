import type { ModelFacts } from '../models/models.ts'
import type { Conversation, Part, Tool } from '../translation/conversation.ts'
import type { Losses } from '../translation/losses.ts'
import { type PromptCaching, reachesTokens } from '../translation/prompt-caching.ts'
import { isOwnProfile } from './own-profile.ts'

interface CachePoint {
  readonly cachePoint: { readonly type: 'default' }
}

interface Blocks {
  push(point: CachePoint): unknown
}

const POINT: CachePoint = { cachePoint: { type: 'default' } }

/** The API refuses more. */
const MAX_POINTS = 4

/**
 * The points up to which the model keeps a prompt: those that the client marked, else those of the policy (decision B104). Tools, system and
 * messages must be written in this order, so that the first of too many marks are kept.
 */
export class CachePoints {
  readonly #losses: Losses
  readonly #isKnown: boolean
  readonly #takesTools: boolean
  readonly #automatic: PromptCaching | undefined
  #left = MAX_POINTS

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
    if (isTaken && this.#left > 0) {
      this.#left--
      blocks.push(POINT)
    } else {
      this.#losses.drop(
        origin,
        isTaken ? `only ${MAX_POINTS} cache points are possible` : 'the model takes no cache point here',
      )
    }
  }
}

function hasMarks({ turns, tools }: Conversation): boolean {
  return tools.some(({ cached }) => cached) || turns.some(({ parts }) => parts.some(({ cached }) => cached))
}
