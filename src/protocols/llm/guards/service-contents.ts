import { Pace, type Steps } from '#base/in-slices.ts'
import type { GuardedRun, GuardedTexts } from './guarded-texts.ts'
import { joinTexts, maskJoined } from './mask-joined.ts'
import type { GuardedMessage } from './services/service.ts'

/** The texts of a body as services see them: one message for each run with text. */
export class ServiceContents {
  readonly messages: readonly GuardedMessage[]
  readonly #runs: readonly GuardedRun[]

  constructor(texts: GuardedTexts) {
    this.#runs = texts.runs.filter(({ texts }) => texts.some(({ text }) => text !== ''))
    this.messages = this.#runs.map(({ role, texts }) => ({ role, content: joinTexts(texts) }))
  }

  /**
   * Writes masked contents into the texts: only what differs changes. Yields between texts.
   * @returns false if the mask touches a text that cannot change
   */
  *mask(contents: readonly string[]): Steps<boolean> {
    const pace = new Pace()
    for (const [index, { texts }] of this.#runs.entries()) {
      if (!(yield* maskJoined(texts, contents[index]!, pace))) return false
    }
    return true
  }
}
