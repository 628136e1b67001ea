import { Pace, type Steps } from '#base/in-slices.ts'
import { joinTexts, maskJoined } from './services/mask-joined.ts'
import type { GuardedMessage } from './services/service.ts'
import type { ChangeableText } from './services/spread-mask.ts'
import { type ArgumentStrings, BrokenArguments } from './texts/broken-arguments.ts'
import type { GuardedRun, GuardedTexts } from './texts/guarded-texts.ts'

/** The texts of a body as services see them: one message for each run with text. */
export class ServiceContents {
  readonly messages: readonly GuardedMessage[]
  readonly #runs: readonly ShownRun[]

  private constructor(runs: readonly ShownRun[], messages: readonly GuardedMessage[]) {
    this.#runs = runs
    this.messages = messages
  }

  /** Yields between messages. */
  static *of({ runs }: Pick<GuardedTexts, 'runs'>): Steps<ServiceContents> {
    const pace = new Pace()
    const found: ShownRun[] = []
    const messages: GuardedMessage[] = []
    for (const run of runs) {
      const { role } = run
      const shown = yield* show(run, pace)
      const { texts } = shown
      const content = yield* joinTexts(texts, pace)
      if (pace.after(content.length)) yield
      // Nothing but the separators between empty texts.
      if (content.length < Math.max(1, texts.length)) continue
      found.push(shown)
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
    for (const [index, { texts, broken }] of this.#runs.entries()) {
      if (!(yield* maskJoined(texts, contents[index]!, pace))) return false
      for (const { entry, strings } of broken) entry.text = yield* strings.write(pace)
    }
    return true
  }
}

/** The texts of a run as services see them. */
interface ShownRun {
  readonly texts: readonly ChangeableText[]
  /** Arguments that are no JSON, whose strings are among the texts. */
  readonly broken: readonly { readonly entry: BrokenArguments; readonly strings: ArgumentStrings }[]
}

function* show({ texts }: GuardedRun, pace: Pace): Steps<ShownRun> {
  if (!texts.some((text) => text instanceof BrokenArguments)) return { texts, broken: [] }
  const shown: ChangeableText[] = []
  const broken: { entry: BrokenArguments; strings: ArgumentStrings }[] = []
  for (const entry of texts) {
    if (entry instanceof BrokenArguments) {
      const strings = yield* entry.strings(pace)
      broken.push({ entry, strings })
      for (const text of strings.texts) shown.push(text)
    } else shown.push(entry)
  }
  return { texts: shown, broken }
}
