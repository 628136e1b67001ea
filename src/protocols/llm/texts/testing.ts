import { runAtOnce, type Steps } from '#base/in-slices.ts'
import { JsonValue, parseDocument } from '../json/json-document.ts'
import type { BodyTexts, EventTexts, TextPlace } from './body-texts.ts'

export function documentOf(body: unknown): JsonValue {
  const parsed = parseDocument(new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)))
  if (!(parsed instanceof JsonValue)) throw new Error('not JSON')
  return parsed
}

/** The texts of a run as lines `path: text`, after its role; a run that is not joined is in brackets. */
export function runsOf(body: unknown, read: (body: JsonValue) => Steps<BodyTexts>): readonly string[][] {
  const document = documentOf(body)
  return runAtOnce(read(document)).runs.map(({ role, joins, places }) => [
    joins ? role : `(${role})`,
    ...places.map((place) => describe(place, document)),
  ])
}

/** The texts of an event as lines `kind block: text`, and the blocks that it closes. */
export function eventOf(
  event: unknown,
  read: (event: JsonValue) => Steps<EventTexts>,
): { texts: string[]; closes: string[] } {
  const document = documentOf(event)
  const { places, textAt, closes } = runAtOnce(read(document))
  const texts = places.map(textAt)
  return {
    texts: texts.map(
      ({ block, kind, place, form }) => `${kind} ${block}: ${describe(place, document, form).replace(/^\S+: /, '')}`,
    ),
    closes: [...closes, ...texts.flatMap(({ block, ends }) => (ends ? [block] : []))],
  }
}

/** `path: text`; a text that cannot change ends with `!`, others than strings with their form. */
function describe(place: TextPlace, document: JsonValue, form = place.form): string {
  const { path, start, end, canChange } = place
  const json = new TextDecoder().decode(document.json.subarray(start, end))
  return `${path}: ${JSON.parse(json)}${canChange ? '' : '!'}${form === 'string' ? '' : ` (${form})`}`
}
