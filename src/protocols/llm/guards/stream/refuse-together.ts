import type { Steps } from '#base/in-slices.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { EventText } from '../../texts/body-texts.ts'
import type { RegexGuard } from '../guard.ts'
import type { GuardedFormat } from '../guarded-format.ts'
import { refuseByRules } from '../rule-names.ts'
import { type BlockOptions, GuardedBlock, type StreamPiece } from './guarded-block.ts'
import { textOf } from './guarded-blocks.ts'
import { TextSequences } from './text-sequences.ts'

/** Why the match cannot be masked. */
const OTHER_TEXTS = 'the match is over several texts of an event that are not those that came before'

/** A text that comes whole in an event. */
export interface WholeText {
  readonly about: EventText
  readonly original: string
}

/**
 * Checks the whole texts of one event together: clients may read this event and none before it. Each text by itself is checked elsewhere.
 * @returns the refusal of a guard whose patterns find something else in the texts together than in each alone
 */
export function* refuseTogether(
  texts: readonly WholeText[],
  format: GuardedFormat,
  options: BlockOptions,
): Steps<Refusal | undefined> {
  for (const guard of options.guards) {
    const refusal = guard.kind === 'regex' ? yield* refuseBy(guard, texts, format, options) : undefined
    if (refusal !== undefined) return refusal
  }
  return undefined
}

function* refuseBy(
  guard: RegexGuard,
  texts: readonly WholeText[],
  format: GuardedFormat,
  options: BlockOptions,
): Steps<Refusal | undefined> {
  let refused: Refusal | undefined
  const refuse = (refusal: Refusal) => {
    refused ??= refusal
  }
  const silent: BlockOptions = { ...options, guards: [guard], repeats: undefined, refuse, noted() {} }
  const alone = yield* masked(texts, silent, undefined)
  refused = undefined
  const noting: BlockOptions = {
    ...silent,
    // The masks are those of the stream, or of each text alone.
    noted: (by, verdict, ...found) => verdict === 'Reject' && options.noted(by, verdict, ...found),
  }
  const together = yield* masked(texts, noting, new TextSequences(format, () => true))
  if (refused !== undefined || together.every((text, at) => text === alone[at])) return refused
  options.noted(guard, 'Reject', [], OTHER_TEXTS)
  return refuseByRules(guard, [], OTHER_TEXTS)
}

/** @param sequences of texts that are read together; undefined: each is read alone */
function* masked(
  texts: readonly WholeText[],
  options: BlockOptions,
  sequences: TextSequences | undefined,
): Steps<readonly (string | undefined)[]> {
  const blocks: GuardedBlock[] = []
  const pieces: StreamPiece[] = []
  for (const { about, original } of texts) {
    const { block: key, form, place } = about
    const text = sequences && textOf(about)
    const block = new GuardedBlock({ key, form, isFixed: !place.canChange, text, begun: undefined }, options)
    if (text !== undefined) sequences?.enter(text)
    const piece: StreamPiece = { original, released: undefined }
    const rest = block.push(piece)
    if (rest !== undefined) yield* rest
    blocks.push(block)
    pieces.push(piece)
  }
  for (const block of blocks) block.end()
  sequences?.end('')
  return pieces.map(({ released }) => released)
}
