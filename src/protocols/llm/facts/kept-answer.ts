import { parseExactJson } from '#base/exact-json.ts'
import type { LlmAnswer, ToolCall } from '#exchange/llm-facts.ts'
import type { LlmReads } from '#exchange/llm-reads.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'

/** Identifies the text or call that a part belongs to. */
type Key = string | number

/** Memory overhead of a text or call, so that many short ones are bounded, too. */
const ENTRY = 64

interface KeptCall {
  readonly id: string
  readonly name: string
  /** The text received so far, or the value in dialects that send a value. */
  arguments: unknown
}

/**
 * Output of a model that expressions read. It keeps only the texts or tool calls that are read, and at most `maxLength` characters of both.
 * Later output is not kept.
 */
export class KeptAnswer implements LlmAnswer {
  readonly maxLength: number
  readonly #reads: LlmReads
  readonly #texts = new Map<Key, string>()
  readonly #calls = new Map<Key, KeptCall>()
  #left: number
  #claim: BodyClaim | undefined

  constructor(reads: LlmReads, maxLength: number) {
    this.#reads = reads
    this.maxLength = maxLength
    this.#left = maxLength
  }

  /** Output is kept in this memory from now on; when none is left, nothing more is kept. */
  areValidFor(claim: BodyClaim): void {
    this.#claim = claim
  }

  get isFull(): boolean {
    return this.#left === 0
  }

  get completion(): readonly string[] {
    return [...this.#texts.values()]
  }

  get toolCalls(): readonly ToolCall[] {
    return [...this.#calls.values()].map(({ id, name, arguments: given }) => {
      return { id, name, arguments: typeof given === 'string' ? parseOr(given) : given }
    })
  }

  /** Appends to a choice or block of text. */
  addText(key: Key, part: unknown): void {
    if (!this.#reads.completion || typeof part !== 'string') return
    const before = this.#texts.get(key)
    if (before === undefined && part !== '') this.#charge(ENTRY)
    const taken = this.#take(part)
    if (taken !== '') this.#texts.set(key, (before ?? '') + taken)
  }

  /** Begins a call, or updates a call that has begun; an existing name stays. */
  beginCall(key: Key, id: unknown, name: unknown): void {
    if (!this.#reads.toolCalls || this.#calls.has(key) || this.isFull) return
    this.#charge(ENTRY)
    this.#calls.set(key, { id: this.#take(toText(id)), name: this.#take(toText(name)), arguments: '' })
  }

  /** Appends to the text of the arguments of a call. */
  addArguments(key: Key, part: unknown): void {
    const call = this.#calls.get(key)
    if (call === undefined || typeof part !== 'string' || typeof call.arguments !== 'string') return
    call.arguments += this.#take(part)
  }

  /** Sets arguments that are a value; the size of their source was bounded. */
  setArguments(key: Key, value: unknown): void {
    const call = this.#calls.get(key)
    if (call !== undefined) call.arguments = value
  }

  #take(part: string): string {
    const taken = part.slice(0, this.#left)
    return this.#charge(taken.length) ? taken : ''
  }

  #charge(length: number): boolean {
    const hasRoom = this.#claim?.take(length) !== false
    this.#left = hasRoom ? Math.max(0, this.#left - length) : 0
    return hasRoom
  }
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Arguments are usually JSON, but a model may write other text or be interrupted. */
function parseOr(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch {
    return text
  }
}
