import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import type { ReadTexts } from '#protocols/llm/dialects/format.ts'
import { type ChatType, FORMATS } from '#protocols/llm/dialects/index.ts'
import { readRequestTexts as readRealtimeTexts } from '#protocols/llm/dialects/responses/realtime-texts.ts'
import { JsonValue, parseDocument } from '#protocols/llm/json/json-document.ts'
import type { ExemptPlace, TextPlace } from '#protocols/llm/texts/body-texts.ts'
import { readTextFile } from '#protocols/llm/texts/file-data.ts'
import { bodyWith, type Position, pathOf, readPositions } from './position.ts'

interface Seen {
  readonly places: readonly TextPlace[]
  readonly exempt: readonly ExemptPlace[]
}

type Read = (body: JsonValue) => Seen

const request = (read: ReadTexts): Read => {
  return (body) => {
    const exempt: ExemptPlace[] = []
    const { runs } = runAtOnce(read(body, exempt))
    return { places: runs.flatMap(({ places }) => places), exempt }
  }
}

const answer = (type: ChatType): Read => {
  return (body) => {
    const exempt: ExemptPlace[] = []
    const { runs } = runAtOnce(FORMATS[type].answerTexts.whole(body, exempt))
    return { places: runs.flatMap(({ places }) => places), exempt }
  }
}

const event = (type: ChatType): Read => {
  return (body) => {
    const exempt: ExemptPlace[] = []
    const { places } = runAtOnce(FORMATS[type].answerTexts.event(body, exempt))
    return { places, exempt }
  }
}

const CORPUS: readonly (readonly [file: string, atLeast: number, read: Read])[] = [
  ['completions-request', 100, request(FORMATS.Completions.readRequestTexts)],
  ['completions-answer', 40, answer('Completions')],
  ['completions-event', 35, event('Completions')],
  ['messages-request', 1000, request(FORMATS.Messages.readRequestTexts)],
  ['messages-request', 1000, request(FORMATS.MessagesTokenCount.readRequestTexts)],
  ['messages-answer', 300, answer('Messages')],
  ['messages-event', 600, event('Messages')],
  ['responses-request', 600, request(FORMATS.Responses.readRequestTexts)],
  ['responses-answer', 1000, answer('Responses')],
  ['responses-event', 2000, event('Responses')],
  ['embeddings-request', 5, request(FORMATS.Embeddings.readRequestTexts)],
  ['realtime-event', 200, request(readRealtimeTexts)],
]

/** A word that passes for a name, a text that does not, and the same in JSON that hides it. */
const CANARIES: readonly (readonly [text: string, spell: (json: string) => string])[] = [
  ['canary', (json) => json],
  ['a canary: jane@example.test', (json) => json],
  ['a canary: jane@example.test', (json) => json.replaceAll('canary: jane@', '\\u0063anar\\u0079: jane\\u0040')],
]

function seen(place: TextPlace, bytes: Uint8Array): string {
  const json = new TextDecoder().decode(bytes.subarray(place.start, place.end))
  const text = JSON.parse(json)
  // All of it is removed.
  if (place.form === 'logprobs') return JSON.stringify(text)
  if (place.form !== 'base64') return text
  const file = readTextFile(text, 'text/plain')
  return typeof file === 'object' ? file.text : text
}

function isWithin(path: string, holder: string): boolean {
  return path.startsWith(holder) && /^(?:$|[.[{])/.test(path.slice(holder.length))
}

test.each(CORPUS)('every string of %s is seen or listed (at least %d positions)', (file, atLeast, read) => {
  const positions = readPositions(file)
  expect(positions.length).toBeGreaterThanOrEqual(atLeast)
  const missed: Position[] = []
  for (const position of positions) {
    for (const [canary, spell] of CANARIES) {
      const bytes = new TextEncoder().encode(spell(JSON.stringify(bodyWith(position, canary))))
      const body = parseDocument(bytes)
      if (!(body instanceof JsonValue)) throw new Error(`no JSON: ${position}`)
      const { places, exempt } = read(body)
      const isSeen = places.some((place) => seen(place, bytes).includes(canary))
      const path = pathOf(position)
      const isListed = exempt.some((each) => isWithin(path, each.path.replaceAll('{0}', '.any')))
      if (!isSeen && !isListed) missed.push(position)
    }
  }
  expect(missed).toEqual([])
})

test('each of 200 texts of a request for embeddings is seen', () => {
  const others = Array.from({ length: 200 }, (_, index) => `text ${index}`)
  for (const index of others.keys()) {
    const bytes = new TextEncoder().encode(JSON.stringify({ input: others.with(index, 'a canary') }))
    const body = parseDocument(bytes)
    if (!(body instanceof JsonValue)) throw new Error('no JSON')
    const texts = request(FORMATS.Embeddings.readRequestTexts)(body).places.map((place) => seen(place, bytes))
    expect(texts).toEqual(others.with(index, 'a canary'))
  }
})

test.each(CORPUS)('members that the vendor defines are not taken for names of a client: %s', (file, _, read) => {
  const taken = new Set<Position>()
  for (const position of readPositions(file)) {
    // The table goes on as far as the vendor defines names.
    if (/\{|schema|parameters|\.input_examples|annotations$|\.tracing/.test(position)) continue
    const body = parseDocument(new TextEncoder().encode(JSON.stringify(bodyWith(position, 'canary'))))
    if (!(body instanceof JsonValue)) throw new Error(`no JSON: ${position}`)
    for (const { path } of read(body).places) if (path.endsWith(':name')) taken.add(`${position} -> ${path}`)
  }
  expect([...taken]).toEqual([])
})
