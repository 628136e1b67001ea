import { Pace, type Steps } from '#base/in-slices.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { GuardLoad } from '#exchange/guard-load.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { Guard } from '../guards/guard.ts'
import type { TextRole } from '../texts/body-texts.ts'
import { EDGE_LENGTH, JoinCheck } from './join-check.ts'
import type { ItemListener, ToldItem } from './told-items.ts'

/** The text of an item, or of instructions. */
export interface Spoken {
  readonly role: TextRole
  readonly text: string
}

/** What a client does to the conversation. */
export type ConversationChange =
  /** `previous`: the id of the item before it; `root`: it is the first; undefined: it is the last. */
  | {
      readonly kind: 'create'
      readonly id: string | undefined
      readonly previous: string | undefined
      spoken(): Spoken
    }
  | { readonly kind: 'delete' | 'truncate'; readonly id: string }
  | { readonly kind: 'instruct'; spoken(): Spoken }
  /** Undefined: the instructions of the session, the items of the conversation. */
  | {
      readonly kind: 'respond'
      readonly instructions: (() => Spoken) | undefined
      readonly input: readonly ((() => Spoken) | { readonly id: string })[] | undefined
    }

/** An item of which the ends are kept. */
interface Item {
  id: string | undefined
  readonly role: TextRole
  readonly start: string
  readonly end: string
  readonly isWhole: boolean
  /** The provider has confirmed it. One that the provider refuses is not there. */
  isThere: boolean
  /** It separates texts of other roles around it. */
  separates: boolean
}

const ROLES: readonly TextRole[] = ['system', 'user', 'assistant', 'tool']

/** The work for a check of two items, in characters. */
const WORK_PER_CHECK = 1024

/** What an item takes in memory, besides its text. */
const ITEM_BYTES = 256
/** Of all items. The first ones are forgotten. */
const MAX_BYTES = 1_048_576

/**
 * The items of a session in the order in which a model reads them. Clients can insert items between others, and delete those between: whatever
 * becomes neighbours is checked together.
 */
export class Conversation implements ItemListener {
  readonly #check: JoinCheck
  readonly #load: GuardLoad
  readonly #items: Item[] = []
  #instructions: Item | undefined
  #bytes = 0
  #isOver = false

  private constructor(check: JoinCheck, load: GuardLoad) {
    this.#check = check
    this.#load = load
  }

  /** Undefined: there are no patterns. */
  static checkedBy(guards: readonly Guard[], exchange: Exchange): Conversation | undefined {
    const check = new JoinCheck(guards, exchange)
    return check.isNeeded ? new Conversation(check, exchange.context.guardLoad) : undefined
  }

  /** Applies an event whose own texts have passed the guards. @returns the refusal if a text that it joins with others must not pass */
  *apply(change: ConversationChange): Steps<Refusal | undefined> {
    switch (change.kind) {
      case 'create':
        return this.#create(change.id, change.previous, change.spoken())
      case 'delete':
      case 'truncate':
        return this.#leave(change.id, change.kind === 'delete')
      case 'instruct':
        return this.#instruct(change.spoken())
      case 'respond':
        return yield* this.#respond(change)
    }
  }

  /** The provider has added an item: one of the client, or one of its own. */
  added({ id, previous, role, text }: ToldItem): void {
    const given = this.#find(id) ?? this.#unnamed(role, text)
    if (given !== undefined) {
      if (given.isThere) return
      this.#name(given, id)
      given.isThere = true
      given.separates = given.start !== ''
      return
    }
    const known = previous === undefined ? undefined : this.#positionAfter(previous)
    const at = known ?? this.#items.findLastIndex(({ isThere }) => isThere) + 1
    // Sound of a user is no text, and does not separate texts, either.
    this.#insert(at, { ...itemOf({ role, text: '' }), id, isThere: true, separates: role === 'assistant' })
  }

  /** The provider has removed an item. */
  removed(id: string): void {
    const at = this.#indexOf(id)
    if (at >= 0) this.#removeAt(at)
  }

  /** The session is over. */
  drop(): void {
    this.#isOver = true
    this.#items.length = 0
    this.#load.give(this.#bytes)
    this.#bytes = 0
  }

  #create(id: string | undefined, previous: string | undefined, spoken: Spoken): Refusal | undefined {
    const at = this.#positionAfter(previous)
    if (at === undefined) return refuseUnknown()
    const { role, text } = spoken
    const [before, after] = [this.#before(at, role), this.#after(at, role)]
    const refusal = this.#check.refuse(before, text + after) ?? this.#check.refuse(before + text, after)
    if (refusal !== undefined) return refusal
    // The provider refuses a second item of an id.
    if (this.#find(id) !== undefined) return undefined
    return this.#insert(at, { ...itemOf(spoken), id }) ? undefined : reject('body-memory-exhausted')
  }

  /** The item, or its text, will not be there any more. */
  #leave(id: string, isRemoved: boolean): Refusal | undefined {
    const at = this.#indexOf(id)
    if (at < 0) return refuseUnknown()
    for (const role of ROLES) {
      const refusal = this.#check.refuse(this.#before(at, role), this.#after(at + 1, role))
      if (refusal !== undefined) return refusal
    }
    if (isRemoved) this.#removeAt(at)
    else this.#items[at]!.separates = false
    return undefined
  }

  #instruct(spoken: Spoken): Refusal | undefined {
    const refusal = this.#check.refuse(spoken.text, this.#after(0, 'system'))
    if (refusal === undefined) this.#instructions = itemOf(spoken)
    return refusal
  }

  *#respond({ instructions, input }: Extract<ConversationChange, { kind: 'respond' }>): Steps<Refusal | undefined> {
    const pace = new Pace()
    let last = instructions === undefined ? this.#instructions : itemOf(instructions())
    if (input === undefined) return last && this.#check.refuse(last.end, this.#after(0, 'system'))
    for (const element of input) {
      if (pace.after(WORK_PER_CHECK)) yield
      const item = 'id' in element ? this.#find(element.id) : itemOf(element())
      if (item === undefined) return refuseUnknown()
      if (item.start === '' && !item.separates) continue
      if (item.role !== last?.role) {
        last = item
        continue
      }
      const refusal = this.#check.refuse(last.end, item.start)
      if (refusal !== undefined) return refusal
      last = item.isWhole ? { ...item, end: (last.end + item.end).slice(-EDGE_LENGTH) } : item
    }
    return undefined
  }

  /** The end of the text of a role before a position. */
  #before(at: number, role: TextRole): string {
    let text = ''
    for (let index = at - 1; index >= 0 && text.length < EDGE_LENGTH; index--) {
      const item = this.#items[index]!
      if (item.role === role) {
        text = item.end + text
        if (!item.isWhole) return text
      }
      if (item.separates && (item.role !== role || item.end === '')) return text
    }
    return role === 'system' && this.#instructions !== undefined ? this.#instructions.end + text : text
  }

  /** The beginning of the text of a role from a position on. */
  #after(at: number, role: TextRole): string {
    let text = ''
    for (let index = at; index < this.#items.length && text.length < EDGE_LENGTH; index++) {
      const item = this.#items[index]!
      if (item.role === role) {
        text += item.start
        if (!item.isWhole) return text
      }
      if (item.separates && (item.role !== role || item.start === '')) return text
    }
    return text
  }

  /** Undefined: the item before it is not known. */
  #positionAfter(previous: string | undefined): number | undefined {
    if (previous === undefined) return this.#items.length
    if (previous === ROOT) return 0
    const at = this.#indexOf(previous)
    return at < 0 ? undefined : at + 1
  }

  #indexOf(id: string): number {
    return this.#items.findIndex((item) => item.id === id)
  }

  #find(id: string | undefined): Item | undefined {
    return id === undefined ? undefined : this.#items[this.#indexOf(id)]
  }

  /** The item of the client that gets its id now. Those that the provider has refused never do. */
  #unnamed(role: TextRole, text: string): Item | undefined {
    const { start, end } = itemOf({ role, text })
    const waiting = this.#items.filter((item) => item.id === undefined && item.role === role)
    const same = waiting.find((item) => item.start === start && item.end === end)
    return same ?? (role === 'assistant' ? undefined : waiting[0])
  }

  /** Without memory for the id, it stays unknown. */
  #name(item: Item, id: string | undefined): void {
    const named = { ...item, id: shortened(id) }
    if (this.#take(bytesOf(named) - bytesOf(item))) item.id = named.id
  }

  /** @returns false if there is no memory for it */
  #insert(at: number, item: Item): boolean {
    const inserted = { ...item, id: shortened(item.id) }
    if (!this.#take(bytesOf(inserted))) return false
    this.#items.splice(at, 0, inserted)
    while (this.#bytes > MAX_BYTES) this.#removeAt(0)
    return true
  }

  #take(bytes: number): boolean {
    if (this.#isOver || !this.#load.take(bytes)) return false
    this.#bytes += bytes
    return true
  }

  #removeAt(at: number): void {
    const bytes = bytesOf(this.#items.splice(at, 1)[0]!)
    this.#bytes -= bytes
    this.#load.give(bytes)
  }
}

/** Before the first item. */
const ROOT = 'root'

/** What it would become a neighbour of cannot be known. The provider refuses most of these, too. */
function refuseUnknown(): Refusal {
  return reject('llm-body-invalid', { body: 'the conversation has no item with this id' })
}

function itemOf({ role, text }: Spoken): Item {
  const isWhole = text.length <= EDGE_LENGTH
  const [start, end] = isWhole ? [text, text] : [text.slice(0, EDGE_LENGTH), text.slice(-EDGE_LENGTH)]
  return { id: undefined, role, start, end, isWhole, isThere: false, separates: false }
}

/** Strings may have two bytes for a character. */
function bytesOf({ id = '', start, end, isWhole }: Item): number {
  return ITEM_BYTES + 2 * (id.length + start.length + (isWhole ? 0 : end.length))
}

/** Longer ids are not kept, so that their items are unknown. */
const MAX_ID = 512

function shortened(id: string | undefined): string | undefined {
  return id === undefined || id.length > MAX_ID ? undefined : id
}
