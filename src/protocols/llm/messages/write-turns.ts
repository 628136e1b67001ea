import type { ContentBlockParam, MessageParam, TextBlockParam } from '@anthropic-ai/sdk/resources/messages/messages'
import type { Part, Turn } from '../conversation.ts'
import { asIs } from '../json/write-json.ts'
import type { Losses } from '../losses.ts'
import type { TargetNames } from '../target-names.ts'
import { Untranslatable } from '../untranslatable.ts'
import { isBlank, trimEnd } from './json-strings.ts'
import { isEmpty, writeCall, writeContent, writeResult, writeText } from './write-parts.ts'

interface WrittenTurn {
  readonly role: 'user' | 'assistant'
  /** Stand before everything else. */
  readonly results: ContentBlockParam[]
  readonly others: ContentBlockParam[]
}

/**
 * The turns as the API accepts them: system texts apart, no empty texts, no two turns of the same role after each other, results of tools at
 * the front of their turn, and first a turn of the user.
 */
export class TurnsWriter {
  readonly system: TextBlockParam[] = []
  readonly #turns: WrittenTurn[] = []
  readonly #names: TargetNames
  readonly #losses: Losses

  constructor(turns: readonly Turn[], names: TargetNames, losses: Losses) {
    this.#names = names
    this.#losses = losses
    for (const { role, parts } of turns) {
      for (const part of parts) {
        if (isEmpty(part)) continue
        if (role === 'system') this.#addSystem(part)
        else this.#add(role, part)
      }
    }
  }

  /** Calls are being answered, and the turn that made them does not begin with a thought: some models then cannot think. */
  get lacksThought(): boolean {
    const last = this.#turns.at(-1)
    if (last === undefined || last.role === 'assistant' || last.results.length === 0) return false
    const first = this.#turns.at(-2)?.others[0]?.type
    return first !== 'thinking' && first !== 'redacted_thinking'
  }

  /** @param continuesTurn the model continues a last turn of the assistant; otherwise the user must have the last word */
  messages(continuesTurn: boolean): MessageParam[] {
    const messages: MessageParam[] = []
    if (this.#turns[0]?.role !== 'user') messages.push({ role: 'user', content: '...' })
    for (const { role, results, others } of this.#turns) {
      messages.push({ role, content: results.length === 0 ? others : [...results, ...others] })
    }
    const last = this.#turns.at(-1)
    if (last?.role === 'assistant') {
      if (!continuesTurn) messages.push({ role: 'user', content: 'Continue.' })
      else trimLast(last.others)
    }
    return messages
  }

  #addSystem(part: Part): void {
    if (part.kind !== 'text')
      throw new Untranslatable(part.origin, 'the provider of this request takes only texts here')
    this.system.push(writeText(part))
  }

  #add(role: 'user' | 'assistant', part: Part): void {
    switch (part.kind) {
      case 'result':
        this.#turnOf('user').results.push(writeResult(part, this.#names))
        break
      case 'call':
        this.#turnOf('assistant').others.push(writeCall(part, this.#names))
        break
      case 'thinking': {
        const { text, signature, origin } = part
        if (signature === undefined || isBlank(signature)) return this.#losses.drop(origin, 'it has no signature')
        const [thinking, signed] = [asIs<string>(text), asIs<string>(signature)]
        this.#turnOf(role).others.push({ type: 'thinking', thinking, signature: signed })
        break
      }
      case 'redacted':
        this.#turnOf(role).others.push({ type: 'redacted_thinking', data: asIs<string>(part.data) })
        break
      default:
        this.#turnOf(role).others.push(writeContent(part))
    }
  }

  #turnOf(role: 'user' | 'assistant'): WrittenTurn {
    const last = this.#turns.at(-1)
    if (last?.role === role) return last
    const turn: WrittenTurn = { role, results: [], others: [] }
    this.#turns.push(turn)
    return turn
  }
}

/** The API refuses white space at the end of a turn to be continued. */
function trimLast(blocks: ContentBlockParam[]): void {
  const last = blocks.at(-1)
  if (last?.type !== 'text') return
  // The text is JSON text; see `asIs`.
  blocks[blocks.length - 1] = { ...last, text: asIs<string>(trimEnd(last.text as unknown as Uint8Array)) }
}
