import type { Steps } from '#base/in-slices.ts'
import type { JsonValue } from '../json/json-document.ts'
import type { BodyTexts, EventText, EventTexts, ExemptPlace } from './body-texts.ts'
import type { CompiledTable } from './text-table.ts'
import { TextWalk } from './text-walk.ts'
import type { WalkedPlace } from './walked-place.ts'

/** @param exempt receives what no guard checks */
export function* readTexts(body: JsonValue, table: CompiledTable, exempt?: ExemptPlace[]): Steps<BodyTexts> {
  const walk = new TextWalk(table, exempt)
  yield* walk.walk(body)
  return yield* walk.texts()
}

/** Begins the names of blocks that are one text of one event. */
const ALONE = 'event '

/** What a text in an event is a part of. */
export interface BlockOf {
  readonly block: string
  readonly kind: EventText['kind']
  /** Of the whole text; by default that of the place. */
  readonly form?: 'arguments' | 'input' | undefined
  /** The block ends with the event. */
  readonly ends?: boolean
  readonly sequence?: string
}

/** How the texts of an event belong together with those of others. */
export interface EventShape {
  /** False: nobody knows which of its texts go on in the next event, so that all do that have the same path. */
  readonly isKnown: boolean
  /** Undefined: the text is whole; it is a block of its own, which ends with the event. */
  readonly blockOf: (place: WalkedPlace) => BlockOf | undefined
  /** Blocks that end with the event. */
  readonly closes: readonly string[]
  /** Receives what no guard checks. */
  readonly exempt: ExemptPlace[] | undefined
}

/** The texts of an event of a stream. */
export function* readEvent(
  event: JsonValue,
  table: CompiledTable,
  { isKnown, blockOf, closes, exempt }: EventShape,
): Steps<EventTexts> {
  const walk = new TextWalk(table, exempt)
  yield* walk.walk(event)
  const places = yield* walk.places()
  const textAt = (place: WalkedPlace): EventText => {
    const of = blockOf(place) ?? (isKnown || place.isName ? undefined : goingOn(place))
    if (of === undefined) {
      return { block: `${ALONE}${place.path}`, place, form: place.form, kind: 'delta', ends: true, sequence: undefined }
    }
    const { block, kind, form = place.form, ends = false, sequence } = of
    return { block, place, form, kind, ends, sequence }
  }
  const [only] = places
  const isOne = places.length === 1 && closes.length === 0
  return {
    places,
    textAt: textAt as EventTexts['textAt'],
    isSteady: isOne && only!.isSteady && goesOn(textAt(only!)),
    closes,
  }
}

function goesOn({ kind, ends }: EventText): boolean {
  return kind === 'delta' && !ends
}

function goingOn(place: WalkedPlace): BlockOf {
  return { block: place.pathBy(indexOf), kind: 'delta' }
}

/** The number that an element of a list has in all events of a stream: its `index`, otherwise its position. */
export function indexOf(element: JsonValue, position: number): number {
  const index = element.get('index')
  return index?.kind === 'number' && Number.isSafeInteger(index.number) && index.number >= 0 ? index.number : position
}
