import { SEPARATOR } from '../services/mask-joined.ts'
import type { ArgumentChecks, ArgumentPiece } from './arguments-stage.ts'
import { ServiceStage, type ServiceStageOptions } from './service-stage.ts'
import type { TextOutput, TextStage } from './text-stage.ts'

/** A piece as the services see it. */
interface ShownPiece<Tag> {
  /** Undefined: it is what separates two strings. */
  readonly piece: ArgumentPiece<Tag> | undefined
  readonly text: string
  readonly canChange: boolean
}

/** Services get the strings of arguments as in a whole answer: decoded, one after another, followed by the invalid remainder. */
export class ServiceChecks<Tag> implements ArgumentChecks<Tag> {
  readonly stage: ServiceStage<ShownPiece<Tag>>
  readonly #isFixed: boolean
  #hasText = false

  constructor(
    out: TextOutput<ArgumentPiece<Tag>>,
    { isFixed, ...options }: Omit<ServiceStageOptions<unknown>, 'canChange'> & { readonly isFixed: boolean },
  ) {
    this.#isFixed = isFixed
    const shown: TextOutput<ShownPiece<Tag>> = {
      text({ piece, text: before }, text) {
        if (piece !== undefined) out.text(piece, text === before ? piece.text : text)
      },
      finish: () => out.finish(),
    }
    this.stage = new ServiceStage(shown, { ...options, canChange: ({ canChange }) => canChange })
  }

  /** Half of a character in it is none of a text. */
  string(isFixed: boolean): TextStage<ArgumentPiece<Tag>> {
    return this.#next(!isFixed && !this.#isFixed, (text) => text.toWellFormed())
  }

  text(_: string | undefined, cut: string): TextStage<ArgumentPiece<Tag>> {
    const text = this.#next(!this.#isFixed, (each) => each)
    if (cut !== '') this.#show(undefined, cut, false)
    return text
  }

  left(): boolean {
    return true
  }

  finish(): void {
    this.stage.finish()
  }

  #next(canChange: boolean, shown: (text: string) => string): TextStage<ArgumentPiece<Tag>> {
    if (this.#hasText) this.#show(undefined, SEPARATOR, false)
    this.#hasText = true
    return {
      text: (piece, text) => this.#show(piece, shown(text), canChange),
      finish() {},
    }
  }

  #show(piece: ArgumentPiece<Tag> | undefined, text: string, canChange: boolean): void {
    this.stage.text({ piece, text, canChange }, text)
  }
}
