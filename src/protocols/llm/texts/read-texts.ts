import type { JsonValue } from '../json/json-document.ts'
import type { BodyTexts, EventText, EventTexts } from './body-texts.ts'
import type { CompiledTable } from './text-table.ts'
import { TextWalk } from './text-walk.ts'
import type { WalkedPlace } from './walked-place.ts'

export function readTexts(body: JsonValue, table: CompiledTable): BodyTexts {
  const walk = new TextWalk(table)
  walk.walk(body)
  return walk.texts
}

/** Begins the names of blocks that are one text of one event. */
export const ALONE = 'event '

/** What a text in an event is a part of. */
export interface BlockOf {
  readonly block: string
  readonly kind: EventText['kind']
  /** The pieces are arguments of a tool call. */
  readonly isArguments: boolean
  /** The block ends with the event. */
  readonly ends: boolean
}

/**
 * The texts of an event of a stream.
 * @param blockOf undefined: the text is whole; it is a block of its own, which ends with the event
 * @param closes blocks that end with the event
 */
export function readEvent(
  event: JsonValue,
  table: CompiledTable,
  blockOf: (place: WalkedPlace) => BlockOf | undefined,
  closes: readonly string[],
): EventTexts {
  const walk = new TextWalk(table)
  walk.walk(event)
  const closed = [...closes]
  let isSteady = true
  const texts = walk.places.map((place): EventText => {
    const of = blockOf(place)
    isSteady &&= place.isSteady && of?.kind === 'delta'
    if (of === undefined) {
      const block = `${ALONE}${place.path}`
      closed.push(block)
      return { block, place, kind: 'delta' }
    }
    if (of.ends) closed.push(of.block)
    return { block: of.block, kind: of.kind, place: of.isArguments ? place.as('arguments') : place }
  })
  isSteady &&= texts.length === 1 && closed.length === 0
  return { texts, exempt: walk.texts.exempt, isSteady, closes: closed }
}

/** The number that an element of a list has in all events of a stream: its `index`, otherwise its position. */
export function indexOf(element: JsonValue, position: number): number {
  const index = element.get('index')
  return index?.kind === 'number' && Number.isSafeInteger(index.number) && index.number >= 0 ? index.number : position
}
