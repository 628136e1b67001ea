import type { Pace, Steps } from '#base/in-slices.ts'
import type { RegexGuard } from '../guard.ts'
import type { TextRule } from '../rules/text-rule.ts'
import type { ChangeableText } from '../services/spread-mask.ts'
import { type ArgumentChecks, type ArgumentPiece, ArgumentsStage } from '../stages/arguments-stage.ts'
import { PART_LENGTH, WORK_PER_PART } from '../stages/parted-stage.ts'
import { RegexChecks } from '../stages/regex-checks.ts'
import type { RuleObserver } from '../stages/regex-stage.ts'
import type { TextOutput, TextStage } from '../stages/text-stage.ts'
import { GuardedText } from './guarded-text.ts'

/** The work for a text besides that for its characters. */
const WORK_PER_TEXT = 32
/** A pattern without a longest match may hold so many bytes of UTF-8: all that it masks in a stream, it masks here. */
const HELD_BYTES = 16_384

type Piece = ArgumentPiece<undefined>

/** Arguments in an answer that are no JSON, or not complete. They are checked as in a stream. */
export class BrokenArguments extends GuardedText {
  /** Yields between parts. @param masked gets the rules that mask @returns those that match what cannot be masked; undefined: all that matches has been masked */
  *maskAll(guard: RegexGuard, masked: Set<TextRule>, pace: Pace): Steps<readonly TextRule[] | undefined> {
    let refusing: readonly TextRule[] | undefined
    const stream: RuleObserver = {
      refuse() {},
      noted(_, verdict, rules) {
        if (verdict === 'Reject') refusing ??= rules
        else for (const rule of rules) masked.add(rule)
      },
    }
    const options = { guard, isFixed: !this.canChange, stream, heldBytes: HELD_BYTES }
    const passed = yield* this.#passThrough(
      (checked) => new RegexChecks(checked, options),
      pace,
      () => refusing !== undefined,
    )
    this.text = passed.join('')
    return refusing
  }

  /** The strings of the JSON part and the invalid remainder, as services see them. Yields between parts. */
  *strings(pace: Pace): Steps<ArgumentStrings> {
    let strings: ArgumentStrings | undefined
    const build = (checked: TextOutput<Piece>) => {
      strings = new ArgumentStrings(checked, this.canChange)
      return strings
    }
    const passed = yield* this.#passThrough(build, pace)
    strings!.passed = passed
    return strings!
  }

  *#passThrough(
    build: (checked: TextOutput<Piece>) => ArgumentChecks<undefined>,
    pace: Pace,
    isOver = () => false,
  ): Steps<readonly string[]> {
    const passed: string[] = []
    const out = {
      text: (_: undefined, text: string) => void passed.push(text),
      finish() {},
    }
    const stage = new ArgumentsStage<undefined>(out, build)
    const { text } = this
    for (let at = 0; at < text.length && !isOver(); at += PART_LENGTH) {
      stage.text(undefined, text.slice(at, at + PART_LENGTH))
      if (pace.after(WORK_PER_PART)) yield
    }
    stage.finish()
    return passed
  }
}

/** A string of the JSON part, or the invalid remainder. */
class ArgumentString implements ChangeableText {
  readonly pieces: Piece[] = []
  readonly #canChange: boolean
  text = ''

  constructor(canChange: boolean) {
    this.#canChange = canChange
  }

  /** An empty string has no place for a mask. */
  get canChange(): boolean {
    return this.#canChange && this.pieces.length > 0
  }
}

/** The strings of the JSON part of invalid arguments, and the remainder. */
export class ArgumentStrings implements ArgumentChecks<undefined> {
  readonly #checked: TextOutput<Piece>
  readonly #canChange: boolean
  readonly texts: ArgumentString[] = []
  /** The arguments, as far as they have passed. */
  passed: readonly string[] = []

  constructor(checked: TextOutput<Piece>, canChange: boolean) {
    this.#checked = checked
    this.#canChange = canChange
  }

  string(isFixed: boolean): TextStage<Piece> {
    return this.#collect(!isFixed && this.#canChange)
  }

  text(): TextStage<Piece> {
    return this.#collect(this.#canChange)
  }

  left(): boolean {
    return true
  }

  finish(): void {}

  /** The arguments with the strings as they are now. Yields between strings. */
  *write(pace: Pace): Steps<string> {
    for (const { pieces, text } of this.texts) {
      if (pace.after(WORK_PER_TEXT + text.length)) yield
      const isSame = text === pieces.map((piece) => piece.text).join('')
      for (const [at, piece] of pieces.entries()) {
        this.#checked.text(piece, isSame ? piece.text : at === 0 ? text : '')
      }
    }
    return this.passed.join('')
  }

  #collect(canChange: boolean): TextStage<Piece> {
    const string = new ArgumentString(canChange)
    this.texts.push(string)
    return {
      text(piece, text) {
        string.pieces.push(piece)
        string.text += text
      },
      finish() {},
    }
  }
}
