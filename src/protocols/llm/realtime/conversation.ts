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

/**
 * - `sent`: the provider has not confirmed it, and may have refused it.
 * - `guessed`: the provider has confirmed it, or another one that looks the same.
 * - `there`: the provider has confirmed it.
 * - `leaving`: the client has deleted it, which the provider has not confirmed.
 */
type ItemState = 'sent' | 'guessed' | 'there' | 'leaving'

/** An item of which the ends are kept. */
interface Item {
  id: string | undefined
  readonly role: TextRole
  readonly start: string
  readonly end: string
  readonly isWhole: boolean
  state: ItemState
  /** The client has put it behind all others. */
  isAppended: boolean
  /** It separates texts of other roles around it. */
  separates: boolean
}

const ROLES: readonly TextRole[] = ['system', 'user', 'assistant', 'tool']

/** The work for a check of two items, in characters. */
const WORK_PER_CHECK = 1024

/** So many neighbours, which depend on what the provider has refused, are checked at most. */
const MAX_NEIGHBOURS = 256

/** What an item takes in memory, besides its text. */
const ITEM_BYTES = 256
/** Of all items. The first ones are forgotten. */
const MAX_BYTES = 1_048_576

/**
 * The items of a session in the order in which a model reads them. Clients can insert items between others, and delete those between: whatever
 * becomes neighbours is checked together, also without any number of items between that the provider may have refused.
 */
export class Conversation implements ItemListener {
  readonly #check: JoinCheck
  readonly #load: GuardLoad
  readonly #items: Item[] = []
  /** Those in force, and later ones that may be. */
  readonly #instructions: Item[] = []
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
        return yield* this.#create(change.id, change.previous, change.spoken())
      case 'delete':
      case 'truncate':
        return yield* this.#leave(change.id, change.kind === 'delete')
      case 'instruct':
        return yield* this.#instruct(change.spoken())
      case 'respond':
        return yield* this.#respond(change)
    }
  }

  /** The provider has added an item: one of the client, or one of its own. */
  added({ id, previous, role, text }: ToldItem): void {
    const named = this.#items.filter((item) => item.id === id && id !== undefined)
    // It is told again, or may be about one that is leaving.
    if (named.some(({ state }) => state !== 'sent')) return
    const unnamed = this.#items.filter((item) => item.id === undefined && item.role === role)
    const possible = named.length > 0 ? named : unnamed
    const same = possible.filter((item) => item.role === role && hasEdges(item, text))
    // An answer is not of the client.
    const given = same[0] ?? (named.length > 0 || role !== 'assistant' ? possible[0] : undefined)
    if (given !== undefined) {
      const isCertain = same.length === 1 || named.length === 1
      this.#name(given, id)
      given.state = isCertain ? 'there' : 'guessed'
      given.separates = isCertain && given.start !== ''
      return
    }
    const known = previous === undefined ? undefined : this.#positionAfter(previous)
    const at = known ?? this.#items.findLastIndex(({ state }) => state === 'there' || state === 'guessed') + 1
    // Sound of a user is no text, and does not separate texts, either.
    const separates = role === 'assistant' && !this.#mayStandBefore(at, known !== undefined)
    this.#insert(at, { ...itemOf({ role, text: '' }), id, state: 'there', separates })
  }

  /**
   * Whether an item of the client, at `at` or after it, may at the provider precede the item that it reports.
   * @param isCertain the provider has reported the item before `at`
   */
  #mayStandBefore(at: number, isCertain: boolean): boolean {
    for (const { state, isAppended } of this.#items.slice(at)) {
      if (state === 'sent') return !isCertain || !isAppended
      if (state === 'there') return false
    }
    return false
  }

  /** The provider has removed an item. */
  removed(id: string): void {
    const leaving = this.#items.findIndex((item) => item.id === id && item.state === 'leaving')
    const at = leaving < 0 ? this.#indexOf(id) : leaving
    if (at >= 0) this.#removeAt(at)
  }

  /** The provider has changed the session. */
  instructed(text: string): void {
    const at = this.#instructions.findLastIndex((sent) => hasEdges(sent, text))
    // -1: they are not of the client.
    for (const item of this.#instructions.splice(0, at)) this.#give(bytesOf(item))
  }

  /** The session is over. */
  drop(): void {
    this.#isOver = true
    this.#items.length = 0
    this.#instructions.length = 0
    this.#give(this.#bytes)
  }

  *#create(id: string | undefined, previous: string | undefined, spoken: Spoken): Steps<Refusal | undefined> {
    const at = this.#positionAfter(previous)
    if (at === undefined) return refuseUnknown()
    const { role, text } = spoken
    const [before, after] = [this.#before(at, role), this.#after(at, role)]
    const refusal =
      (yield* this.#checkAll(
        before,
        after.map((each) => text + each),
      )) ??
      (yield* this.#checkAll(
        before.map((each) => each + text),
        after,
      ))
    if (refusal !== undefined) return refusal
    // The provider refuses a second item of an id.
    if (this.#find(id)?.state === 'there') return undefined
    return this.#insert(at, { ...itemOf(spoken), id, isAppended: previous === undefined })
      ? undefined
      : reject('body-memory-exhausted')
  }

  /** The item, or its text, will not be there any more. */
  *#leave(id: string, isRemoved: boolean): Steps<Refusal | undefined> {
    const at = this.#indexOf(id)
    if (at < 0) return refuseUnknown()
    for (const role of ROLES) {
      const refusal = yield* this.#checkAll(this.#before(at, role), this.#after(at + 1, role))
      if (refusal !== undefined) return refusal
    }
    const item = this.#items[at]!
    item.separates = false
    if (isRemoved) item.state = 'leaving'
    return undefined
  }

  *#instruct(spoken: Spoken): Steps<Refusal | undefined> {
    const refusal = yield* this.#checkAll([spoken.text], this.#after(0, 'system'))
    if (refusal !== undefined) return refusal
    if (this.#instructions.length >= MAX_NEIGHBOURS) return refuseUnconfirmed()
    const item = itemOf(spoken)
    if (!this.#take(bytesOf(item))) return reject('body-memory-exhausted')
    this.#instructions.push(item)
    return undefined
  }

  *#respond({ instructions, input }: Extract<ConversationChange, { kind: 'respond' }>): Steps<Refusal | undefined> {
    const before = instructions === undefined ? this.#instructions : [itemOf(instructions())]
    if (input === undefined) {
      return yield* this.#checkAll(
        before.map(({ end }) => end),
        this.#after(0, 'system'),
      )
    }
    const items: Item[] = []
    const pace = new Pace()
    for (const element of input) {
      if (pace.after(WORK_PER_CHECK)) yield
      const item = 'id' in element ? this.#find(element.id) : itemOf(element())
      if (item === undefined) return refuseUnknown()
      if (item.start !== '' || item.separates) items.push(item)
    }
    for (const first of before.length > 0 ? before : [undefined]) {
      const refusal = yield* this.#checkInput(first, items)
      if (refusal !== undefined) return refusal
    }
    return undefined
  }

  *#checkInput(first: Item | undefined, items: readonly Item[]): Steps<Refusal | undefined> {
    const pace = new Pace()
    let last = first
    for (const item of items) {
      if (pace.after(WORK_PER_CHECK)) yield
      if (item.role !== last?.role) {
        last = item
        continue
      }
      const refusal = this.#check.refuse(last.end, item.start)
      if (refusal !== undefined) return refusal
      last = { ...item, end: endOf(last.end + item.end) }
    }
    return undefined
  }

  /** Checks each text with each that may follow it. */
  *#checkAll(before: readonly string[], after: readonly string[]): Steps<Refusal | undefined> {
    if (before.length * after.length > MAX_NEIGHBOURS) return refuseUnconfirmed()
    const pace = new Pace()
    for (const one of before) {
      for (const other of after) {
        const refusal = this.#check.refuse(one, other)
        if (refusal !== undefined) return refusal
        if (pace.after(WORK_PER_CHECK)) yield
      }
    }
    return undefined
  }

  /** The ends of the text of a role before a position: of all items, and without the last ones that may not be there. */
  #before(at: number, role: TextRole): readonly string[] {
    const items = [...this.#instructions, ...this.#items.slice(0, at)].reverse()
    return neighbours(items, role, (text, { end }) => end + text)
  }

  /** The beginnings of the text of a role from a position on. */
  #after(at: number, role: TextRole): readonly string[] {
    return neighbours(this.#items.slice(at), role, (text, { start }) => text + start)
  }

  /** Undefined: the item before it is not known. */
  #positionAfter(previous: string | undefined): number | undefined {
    if (previous === undefined) return this.#items.length
    if (previous === ROOT) return 0
    const at = this.#indexOf(previous)
    return at < 0 ? undefined : at + 1
  }

  /** -1: there is none, or it is not known which of several is there. */
  #indexOf(id: string): number {
    const possible = this.#items.filter((item) => item.id === id)
    // While one leaves, the provider may have refused a later one of this id.
    if (possible.some(({ state }) => state === 'leaving')) return -1
    const known = possible.filter(({ state }) => state !== 'sent')
    const [only, another] = known.length > 0 ? known : possible
    return only === undefined || another !== undefined ? -1 : this.#items.indexOf(only)
  }

  #find(id: string | undefined): Item | undefined {
    return id === undefined ? undefined : this.#items[this.#indexOf(id)]
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
    this.#give(bytesOf(this.#items.splice(at, 1)[0]!))
  }

  #give(bytes: number): void {
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

/** The provider has to confirm some first. */
function refuseUnconfirmed(): Refusal {
  return reject('llm-body-invalid', { body: 'too much that the provider has not confirmed' })
}

/**
 * What may stand next to a position, by items from there on: the texts of a role together, and the same without the first ones that may not be
 * there.
 */
function neighbours(
  items: readonly Item[],
  role: TextRole,
  join: (text: string, item: Item) => string,
): readonly string[] {
  const found: string[] = []
  for (const [at, item] of items.entries()) {
    if (item.role === role && item.start !== '') {
      found.push(textFrom(at, items, role, join))
      if (item.state === 'there') break
    }
    if (separates(item, role)) break
  }
  return found.length === 0 ? [''] : found
}

/** The text of a role up to a text of another role, or until it is long enough. */
function textFrom(
  at: number,
  items: readonly Item[],
  role: TextRole,
  join: (text: string, item: Item) => string,
): string {
  let text = ''
  for (let index = at; index < items.length && text.length <= EDGE_LENGTH; index++) {
    const item = items[index]!
    if (item.role === role) text = join(text, item)
    if (separates(item, role)) return text
  }
  return text
}

function separates(item: Item, role: TextRole): boolean {
  return item.separates && (item.role !== role || item.start === '')
}

function itemOf({ role, text }: Spoken): Item {
  const isWhole = text.length <= EDGE_LENGTH
  return {
    id: undefined,
    role,
    start: startOf(text),
    end: endOf(text),
    isWhole,
    state: 'sent',
    isAppended: false,
    separates: false,
  }
}

function hasEdges({ start, end }: Item, text: string): boolean {
  return start === startOf(text) && end === endOf(text)
}

function startOf(text: string): string {
  return text.slice(0, EDGE_LENGTH)
}

/** With one more character, which tells whether a line or a word begins at the edge. */
function endOf(text: string): string {
  return text.slice(-EDGE_LENGTH - 1)
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
