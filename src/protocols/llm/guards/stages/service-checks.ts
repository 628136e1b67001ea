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

  /** @param begun those of the beginning of the text, which seemed to be over */
  constructor(
    out: TextOutput<ArgumentPiece<Tag>>,
    { isFixed, ...options }: Omit<ServiceStageOptions<unknown>, 'canChange'> & { readonly isFixed: boolean },
    begun?: ServiceChecks<unknown>,
  ) {
    this.#isFixed = isFixed
    if (begun !== undefined) this.#hasText = begun.#hasText
    const shown: TextOutput<ShownPiece<Tag>> = {
      text({ piece, text: before }, text) {
        if (piece !== undefined) out.text(piece, text === before ? piece.text : text)
      },
      finish: () => out.finish(),
    }
    const begunStage = begun?.stage as ServiceStage<unknown> | undefined
    this.stage = new ServiceStage(shown, { ...options, canChange: ({ canChange }) => canChange }, begunStage)
  }

  /** Half of a character in it is none of a text. */
  string(isFixed: boolean, goesOn: boolean): TextStage<ArgumentPiece<Tag>> {
    return this.#next(!isFixed && !this.#isFixed, goesOn, (text) => text.toWellFormed())
  }

  text(before: string | undefined, cut: string): TextStage<ArgumentPiece<Tag>> {
    const text = this.#next(!this.#isFixed, before === undefined, (each) => each)
    if (cut !== '') this.#show(undefined, cut, false)
    return text
  }

  left(): boolean {
    return true
  }

  finish(): void {
    this.stage.finish()
  }

  #next(canChange: boolean, goesOn: boolean, shown: (text: string) => string): TextStage<ArgumentPiece<Tag>> {
    if (this.#hasText && !goesOn) this.#show(undefined, SEPARATOR, false)
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
