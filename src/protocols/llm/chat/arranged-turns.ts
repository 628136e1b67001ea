import { isBlank, trimEnd } from '../json/json-strings.ts'
import type { Part, TextPart, Turn } from './conversation.ts'
import type { Loops } from './loops.ts'
import type { Losses } from './losses.ts'
import { Untranslatable } from './untranslatable.ts'

export interface ArrangedTurn {
  readonly role: 'user' | 'assistant'
  readonly parts: readonly Part[]
  /** The text of a turn that the client did not send. It has no parts. */
  readonly added: string | undefined
}

interface GrowingTurn {
  readonly role: 'user' | 'assistant'
  /** Stand before everything else. */
  readonly results: Part[]
  readonly others: Part[]
}

/**
 * Turns as strict providers accept them: system texts apart, no empty texts, no two turns of the same role after each other, results of tools
 * at the front of their turn, no unsigned thoughts, and first a turn of the user.
 */
export class ArrangedTurns {
  readonly system: TextPart[] = []
  readonly #turns: GrowingTurn[] = []

  /** All turns are there when all loops have run. */
  constructor(turns: readonly Turn[], loops: Loops, losses: Losses) {
    loops.each(turns, ({ role, parts }) => {
      loops.each(parts, (part) => {
        if (isEmpty(part)) return
        if (role === 'system') this.#addSystem(part)
        else this.#add(role, part, losses)
      })
    })
  }

  /** Calls are being answered, and the turn that made them does not begin with a thought: some models then cannot think. */
  get lacksThought(): boolean {
    const last = this.#turns.at(-1)
    if (last === undefined || last.role === 'assistant' || last.results.length === 0) return false
    const first = this.#turns.at(-2)?.others[0]?.kind
    return first !== 'thinking' && first !== 'redacted'
  }

  /** @param continuesTurn the model continues a last turn of the assistant; otherwise the user must have the last word */
  list(continuesTurn: boolean): readonly ArrangedTurn[] {
    const turns: ArrangedTurn[] = this.#turns.map(({ role, results, others }) => {
      return { role, parts: results.length === 0 ? others : [...results, ...others], added: undefined }
    })
    const last = turns.at(-1)
    if (last?.role === 'assistant') {
      if (!continuesTurn) turns.push(said('Continue.'))
      else turns[turns.length - 1] = { ...last, parts: withoutSpaceAtEnd(last.parts) }
    }
    if (turns[0]?.role !== 'user') turns.unshift(said('...'))
    return turns
  }

  #addSystem(part: Part): void {
    if (part.kind !== 'text') {
      throw new Untranslatable(part.origin, 'the provider of this request accepts only texts here')
    }
    this.system.push(part)
  }

  #add(role: 'user' | 'assistant', part: Part, losses: Losses): void {
    if (part.kind === 'result') this.#turnOf('user').results.push(part)
    else if (part.kind === 'call') this.#turnOf('assistant').others.push(part)
    else if (part.kind === 'thinking' && (part.signature === undefined || isBlank(part.signature))) {
      losses.drop(part.origin, 'it has no signature')
    } else this.#turnOf(role).others.push(part)
  }

  #turnOf(role: 'user' | 'assistant'): GrowingTurn {
    const last = this.#turns.at(-1)
    if (last?.role === role) return last
    const turn: GrowingTurn = { role, results: [], others: [] }
    this.#turns.push(turn)
    return turn
  }
}

/** Providers refuse texts without any letter. */
export function isEmpty(part: Part): boolean {
  return part.kind === 'text' && isBlank(part.text)
}

function said(added: string): ArrangedTurn {
  return { role: 'user', parts: [], added }
}

/** Providers refuse white space at the end of a turn to be continued. */
function withoutSpaceAtEnd(parts: readonly Part[]): readonly Part[] {
  const last = parts.at(-1)
  return last?.kind === 'text' ? [...parts.slice(0, -1), { ...last, text: trimEnd(last.text) }] : parts
}
