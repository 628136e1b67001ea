import { Pace, type Steps } from '#base/in-slices.ts'
import { joinTexts, maskJoined } from './services/mask-joined.ts'
import type { GuardedMessage } from './services/service.ts'
import type { GuardedRun, GuardedTexts } from './texts/guarded-texts.ts'

/** The texts of a body as services see them: one message for each run with text. */
export class ServiceContents {
  readonly messages: readonly GuardedMessage[]
  readonly #runs: readonly GuardedRun[]

  private constructor(runs: readonly GuardedRun[], messages: readonly GuardedMessage[]) {
    this.#runs = runs
    this.messages = messages
  }

  /** Yields between messages. */
  static *of({ runs }: Pick<GuardedTexts, 'runs'>): Steps<ServiceContents> {
    const pace = new Pace()
    const found: GuardedRun[] = []
    const messages: GuardedMessage[] = []
    for (const run of runs) {
      const { role, texts } = run
      const content = yield* joinTexts(texts, pace)
      if (pace.after(content.length)) yield
      // The content is empty, or has only separators between empty texts.
      if (content.length < Math.max(1, texts.length)) continue
      found.push(run)
      messages.push({ role, content })
    }
    return new ServiceContents(found, messages)
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
