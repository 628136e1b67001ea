import { expect, onTestFinished, test, vi } from 'vitest'
import { Pace, runAtOnce, type Steps } from '#base/in-slices.ts'
import { JsonChildren } from '../json/json-document.ts'
import { type Splice, spliceInSteps } from '../json/splice.ts'
import type { BodyTexts } from '../texts/body-texts.ts'
import { ANSWER_TEXTS, REQUEST_TEXTS } from '../texts/dialect-texts.ts'
import { documentOf } from '../texts/testing.ts'
import { compileRules } from './rules/compile-rules.ts'
import { SearchableText } from './rules/searchable-text.ts'
import { ServiceContents } from './service-contents.ts'
import { EventReader } from './stream/event-reader.ts'
import { GuardedTexts } from './texts/guarded-texts.ts'
import { findInTexts, maskTexts } from './texts/mask-texts.ts'

// A check may hold a worker for 10 ms at a stretch. The steps of long work are counted here, in units of work: a machine may be slow.

/** Of each thing; two thirds of it are still more than one step may look at. */
const COUNT = 25_000
/** A body may have 350,000 objects, lists and members, and a call has five. */
const CALLS = 20_000

/** Looks at texts, or at values of a body. A spy would keep each of them. */
function countLooks(): { readonly looks: number } {
  const counter = { looks: 0 }
  const text = Object.getOwnPropertyDescriptor(SearchableText.prototype, 'text')!
  const next = Object.getOwnPropertyDescriptor(JsonChildren.prototype, 'next')!
  Object.defineProperty(SearchableText.prototype, 'text', {
    ...text,
    get() {
      counter.looks++
      return text.get!.call(this)
    },
  })
  Object.defineProperty(JsonChildren.prototype, 'next', {
    ...next,
    value() {
      counter.looks++
      return next.value.call(this)
    },
  })
  onTestFinished(() => {
    Object.defineProperty(SearchableText.prototype, 'text', text)
    Object.defineProperty(JsonChildren.prototype, 'next', next)
  })
  return counter
}

/** The most work between two yields. */
function mostPerStep(work: Steps<unknown>, counter: { readonly looks: number }): { most: number; all: number } {
  const first = counter.looks
  let most = 0
  for (let before = first, isOver = false; !isOver; before = counter.looks) {
    isOver = work.next().done === true
    most = Math.max(most, counter.looks - before)
  }
  return { most, all: counter.looks - first }
}

const rules = compileRules({ matches: ['x', 'ab'] }, (path, message) => {
  throw new Error(path + message)
})

const part = (_: unknown, index: number) => ({ type: 'text', text: `part ${index}` })
const REQUESTS = {
  'one message with many parts': { messages: [{ role: 'user', content: Array.from({ length: COUNT }, part) }] },
  'many messages': {
    messages: Array.from({ length: COUNT }, (_, index) => ({
      role: index % 3 === 0 ? 'assistant' : 'user',
      content: 'a',
    })),
  },
  'many empty texts behind a message of another role': {
    messages: [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: Array.from({ length: COUNT }, () => ({ type: 'text', text: ' ' })) },
    ],
  },
  'many empty messages': { messages: Array.from({ length: COUNT }, () => ({ role: 'user', content: ' ' })) },
  'arguments with many strings': {
    messages: [
      {
        role: 'assistant',
        tool_calls: [{ function: { name: 'f', arguments: JSON.stringify(Array<string>(COUNT).fill('a')) } }],
      },
    ],
  },
}

function textsOf(request: object): { bytes: Uint8Array; found: BodyTexts } {
  const document = documentOf(request)
  return { bytes: document.json, found: runAtOnce(REQUEST_TEXTS.Completions(document)) }
}

for (const [what, request] of Object.entries(REQUESTS)) {
  const { bytes, found } = textsOf(request)
  const read = () => {
    const texts = runAtOnce(GuardedTexts.read(bytes, found))
    if ('unreadable' in texts) throw new Error(texts.unreadable)
    return texts
  }
  test.each<readonly [work: string, run: () => Steps<unknown>]>([
    ['finding texts', () => REQUEST_TEXTS.Completions(documentOf(request))],
    ['reading texts', () => GuardedTexts.read(bytes, found)],
    ['masking', () => maskTexts(rules, read())],
    ['rejecting', () => findInTexts(rules, read())],
    ['measuring', () => read().measure()],
    ['writing', () => read().apply()],
    ['writing a question', () => ServiceContents.of(read())],
    ['masking by a service', () => maskByService(read())],
  ])(`%s: no step looks at much of ${what}`, (_, run) => {
    const work = run()
    const { most } = mostPerStep(work, countLooks())
    expect(most).toBeLessThanOrEqual(16_384)
  })
}

/** Nothing of the texts is left, so that no boundary between them is found again. */
function maskByService(texts: GuardedTexts): Steps<unknown> {
  const contents = runAtOnce(ServiceContents.of(texts))
  return contents.mask(contents.messages.map(({ content }) => '*'.repeat(content.length)))
}

test('the looks are counted', () => {
  const { bytes, found } = textsOf(REQUESTS['one message with many parts'])
  const texts = runAtOnce(GuardedTexts.read(bytes, found)) as GuardedTexts
  const { all } = mostPerStep(maskTexts(rules, texts), countLooks())
  expect(all).toBeGreaterThanOrEqual(COUNT)
})

/** How many steps it takes. */
function countSteps(work: Steps<unknown>): number {
  let steps = 1
  while (work.next().done !== true) steps++
  return steps
}

test('the texts of a long event are put together in steps, besides those in which they are found', () => {
  const call = (_: unknown, index: number) => ({ index, function: { arguments: 'a' } })
  const event = documentOf({ choices: [{ delta: { tool_calls: Array.from({ length: CALLS }, call) } }] })
  const answer = documentOf({ choices: [{ message: { tool_calls: Array.from({ length: CALLS }, call) } }] })
  const found = countSteps(ANSWER_TEXTS.Completions.whole(answer))
  const reader = new EventReader('Completions', { text: () => undefined, *close() {} })
  const { json } = event
  const reading = reader.read(json, 0, json.length)
  // The block of each text is named.
  expect(typeof reading === 'boolean' ? 0 : countSteps(reading) - found).toBeGreaterThan((CALLS * 1024) / 16_384)
})

test.each<readonly [work: string, run: (texts: GuardedTexts) => Steps<unknown>]>([
  ['masking', (texts) => maskTexts(rules, texts)],
  ['rejecting', (texts) => findInTexts(rules, texts)],
])('%s: no step looks through many long texts without a match', (_, run) => {
  const [length, count] = [60_000, 200]
  const content = Array.from({ length: count }, () => ({ type: 'text', text: '.'.repeat(length) }))
  const { bytes, found } = textsOf({ messages: [{ role: 'user', content }] })
  const texts = runAtOnce(GuardedTexts.read(bytes, found)) as GuardedTexts
  const search = vi.spyOn(SearchableText.prototype, 'search')
  onTestFinished(() => search.mockRestore())
  const { most, all } = mostPerStep(run(texts), {
    get looks() {
      return search.mock.calls.length
    },
  })
  expect(all).toBe(rules.length * (count + 1))
  // A unit of work is a look at 16 characters.
  expect(most).toBeLessThanOrEqual(Math.ceil((16 * 16_384) / length))
})

test('edits with long texts are written in steps', () => {
  const [length, count] = [60_000, 200]
  const text = new Uint8Array(length)
  const splices = Array.from({ length: count }, (): Splice => ({ start: 0, end: 0, text }))
  // A unit of work is a copy of 16 bytes, and a yield comes after an edit.
  const steps = countSteps(spliceInSteps(new Uint8Array(1), splices, new Pace()))
  expect(steps).toBeGreaterThan((length * count) / 16 / (16_384 + length / 16))
})

test('edits are ordered and written in steps', () => {
  let looks = 0
  const splices = Array.from({ length: COUNT }, (_, index): Splice => {
    const start = COUNT - index
    return {
      get start() {
        looks++
        return start
      },
      end: start,
      text: Uint8Array.of(0x61),
    }
  })
  const counter = {
    get looks() {
      return looks
    },
  }
  const { most, all } = mostPerStep(spliceInSteps(new Uint8Array(COUNT + 1), splices, new Pace()), counter)
  expect(all).toBeGreaterThan(COUNT)
  expect(most).toBeLessThanOrEqual(2 * 16_384)
})
