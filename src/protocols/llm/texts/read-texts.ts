import { Pace, type Steps } from '#base/in-slices.ts'
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

/** The work for a text of an event, in characters. */
const WORK_PER_TEXT = 256

/** Begins the names of blocks that are one text of one event. */
export const ALONE = 'event '

/** What a text in an event is a part of. */
export interface BlockOf {
  readonly block: string
  readonly kind: EventText['kind']
  /** Of the whole text; undefined: that of the place. */
  readonly form: 'arguments' | 'input' | undefined
  /** The block ends with the event. */
  readonly ends: boolean
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
  let isSteady = true
  const texts: EventText[] = []
  const pace = new Pace()
  for (const place of yield* walk.places()) {
    if (pace.after(WORK_PER_TEXT)) yield
    const of = blockOf(place) ?? (isKnown || place.isName ? undefined : goingOn(place))
    isSteady &&= place.isSteady && of?.kind === 'delta'
    if (of === undefined) {
      texts.push({ block: `${ALONE}${place.path}`, place, form: place.form, kind: 'delta', ends: true })
      continue
    }
    const { block, kind, form, ends } = of
    texts.push({ block, place, form: form ?? place.form, kind, ends })
  }
  isSteady &&= texts.length === 1 && !texts[0]!.ends && closes.length === 0
  return { texts, isSteady, closes }
}

function goingOn(place: WalkedPlace): BlockOf {
  return { block: place.pathBy(indexOf), kind: 'delta', form: undefined, ends: false }
}

/** The number that an element of a list has in all events of a stream: its `index`, otherwise its position. */
export function indexOf(element: JsonValue, position: number): number {
  const index = element.get('index')
  return index?.kind === 'number' && Number.isSafeInteger(index.number) && index.number >= 0 ? index.number : position
}
