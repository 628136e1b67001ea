import { parseJson } from '#base/parse-json.ts'
import type { AnswerRoom } from '../../chat/answer-room.ts'
import { countAt, elementsOf, memberOf, textAt } from '../../json/read-value.ts'

/** A thought of the model in a message (docs/behaviour/llm.md, "Chat completions"). */
export type Thought =
  | { readonly kind: 'thinking'; readonly text: string; readonly signature: string }
  | { readonly kind: 'redacted'; readonly data: string }

/**
 * The member `reasoning_signature` of a message. It is the signature of the one thought in `reasoning_content`. If there are several, or one
 * that only the provider can read, it is a JSON list: `{"length", "signature"}` for each thought that has so many UTF-16 units of
 * `reasoning_content`, and `{"redacted"}`.
 */
export function readThoughts(text: string, signature: string): readonly Thought[] {
  const list = signature.startsWith('[') ? parseList(signature) : undefined
  if (list === undefined) return [{ kind: 'thinking', text, signature }]
  let at = 0
  return list.map((thought): Thought => {
    const data = textAt(thought, 'redacted')
    if (data !== undefined) return { kind: 'redacted', data }
    const start = at
    at += countAt(thought, 'length') ?? 0
    return { kind: 'thinking', text: text.slice(start, at), signature: textAt(thought, 'signature') ?? '' }
  })
}

function parseList(text: string): readonly unknown[] | undefined {
  try {
    const list: unknown = parseJson(text)
    return Array.isArray(list)
      ? elementsOf(list).filter(
          (thought) => memberOf(thought, 'length') !== undefined || memberOf(thought, 'redacted') !== undefined,
        )
      : undefined
  } catch {
    return undefined
  }
}

/** With more thoughts, or longer signatures of all of them, an answer has none. */
const MAX_THOUGHTS = 1000
const MAX_SIGNATURES = 4 * 1024 * 1024

interface SignedThought {
  readonly block: number
  /** In UTF-16 units. */
  length: number
  signature: string
  readonly redacted: string | undefined
}

/** Collects what `reasoning_signature` has to say about the thoughts of an answer. */
export class ThoughtSignatures {
  readonly #thoughts: SignedThought[] = []
  readonly #room: AnswerRoom | undefined
  #isTooMuch = false
  #signatures = 0

  constructor(room: AnswerRoom | undefined) {
    this.#room = room
  }

  thinking(block: number, text: string): void {
    this.#of(block).length += text.length
  }

  signature(block: number, text: string): void {
    this.#of(block).signature += text
    this.#keep(text)
  }

  redacted(block: number, data: string): void {
    this.#thoughts.push({ block, length: 0, signature: '', redacted: data })
    this.#keep(data)
  }

  #of(block: number): SignedThought {
    const last = this.#thoughts.at(-1)
    if (last?.block === block) return last
    const thought = { block, length: 0, signature: '', redacted: undefined }
    this.#thoughts.push(thought)
    this.#limit()
    return thought
  }

  #keep(signature: string): void {
    this.#signatures += signature.length
    this.#limit()
    if (!this.#isTooMuch) this.#room?.take(signature.length)
  }

  #limit(): void {
    if (this.#signatures <= MAX_SIGNATURES && this.#thoughts.length <= MAX_THOUGHTS) return
    this.#isTooMuch = true
    this.#thoughts.length = 0
  }

  /** Undefined if no thought has a signature. */
  get text(): string | undefined {
    const thoughts = this.#thoughts
    if (this.#isTooMuch) return undefined
    if (thoughts.every(({ signature, redacted }) => signature === '' && redacted === undefined)) return undefined
    const [first] = thoughts
    if (thoughts.length === 1 && first!.redacted === undefined) return first!.signature
    return JSON.stringify(
      thoughts.map(({ length, signature, redacted }) =>
        redacted === undefined ? { length, signature } : { redacted },
      ),
    )
  }
}
