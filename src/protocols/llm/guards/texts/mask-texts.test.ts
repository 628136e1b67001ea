import { expect, test } from 'vitest'
import { runAtOnce, type Steps } from '#base/in-slices.ts'
import { FORMATS } from '../../dialects/index.ts'
import { JsonValue, parseDocument } from '../../json/json-document.ts'
import { compileRules } from '../rules/compile-rules.ts'
import { GuardedText } from './guarded-text.ts'
import { type GuardedRun, GuardedTexts } from './guarded-texts.ts'
import { findInTexts, maskTexts, type RuleVerdict } from './mask-texts.ts'

/** Runs of texts: `!` begins one that cannot change. */
function textsOf(runs: readonly (readonly string[])[], joins = true): { readonly runs: readonly GuardedRun[] } {
  return {
    runs: runs.map((texts) => ({
      role: 'user',
      joins,
      texts: texts.map((text) => new GuardedText(text.replace(/^!/, ''), !text.startsWith('!'))),
    })),
  }
}

function rules(...matches: readonly string[]) {
  return compileRules({ matches: [...matches] }, (path, message) => {
    throw new Error(`${path}: ${message}`)
  })
}

/** The verdict with the labels of its rules. */
function labelled(verdict: RuleVerdict) {
  return verdict.kind === 'pass' ? verdict : { ...verdict, rules: verdict.rules.map(({ label }) => label) }
}

const labelsOf = (indexes: readonly number[]) => indexes.map((index) => `matches[${index}]`)
const mask = (...indexes: number[]) => ({ kind: 'mask', rules: labelsOf(indexes) })
const refuse = (...indexes: number[]) => ({ kind: 'reject', rules: labelsOf(indexes) })
const refuseFixed = (...indexes: number[]) => ({
  ...refuse(...indexes),
  detail: 'the match is in a text that cannot change',
})

const refuseAcross = (...indexes: number[]) => ({
  ...refuse(...indexes),
  detail: 'the match is across parts of a message',
})

test.each<[what: string, runs: string[][], patterns: string[], after: string[][], object]>([
  ['nothing', [['one'], ['two']], ['x'], [['one'], ['two']], { kind: 'pass' }],
  ['each match', [['a1b2', '3'], ['4c']], ['[0-9]'], [['a<masked>b<masked>', '<masked>'], ['<masked>c']], mask(0)],
  ['the output of the rule before', [['ab']], ['b', 'a<masked>'], [['<masked>']], mask(0, 1)],
  ['what the last rule does not find', [['ab']], ['b', 'x'], [['a<masked>']], mask(0)],
  ['a text that cannot change and has no match', [['!a', 'b']], ['b'], [['a', '<masked>']], mask(0)],
  ['a match in a text that cannot change', [['b', '!ab']], ['x', 'a'], [['b', 'ab']], refuseFixed(1)],
  ['no placeholder of its own', [['ab 1', 'cd']], ['[a-z]+'], [['<masked> 1', '<masked>']], mask(0)],
  ['two matches that follow each other once each', [['abab', 'x']], ['ab'], [['<masked><masked>', 'x']], mask(0)],
  ['a match that ends a part', [['1ab', '2']], ['1ab'], [['<masked>', '2']], mask(0)],
  ['what goes on behind a part that is masked', [['a@b.c', 'd']], ['[a-z]+@[a-z.]+'], [['<masked>', 'd']], mask(0)],
  ['a match across two parts', [['x se', 'cret y']], ['secret'], [], refuseAcross(0)],
  ['a match across an empty part', [['se', '', 'cret']], ['secret'], [], refuseAcross(0)],
  ['a match across parts of which one cannot change', [['se', '!cret']], ['secret'], [], refuseAcross(0)],
  ['a match across parts behind one in a part', [['secret se', 'cret']], ['x', 'secret'], [], refuseAcross(1)],
  ['two messages', [['a se'], ['cret b']], ['secret'], [['a se'], ['cret b']], { kind: 'pass' }],
])('masks %s', (_, runs, patterns, after, verdict) => {
  const texts = textsOf(runs)
  const masked = runAtOnce(maskTexts(rules(...patterns), texts))
  expect(labelled(masked)).toEqual(verdict)
  const found = runAtOnce(findInTexts(rules(...patterns), textsOf(runs)))
  expect(found.kind).toBe(masked.kind === 'pass' ? 'pass' : 'reject')
  if (masked.kind === 'reject') return
  expect(texts.runs.map((run) => run.texts.map(({ text }) => text))).toEqual(after)
})

test('texts that do not join are checked alone', () => {
  const texts = textsOf([['se', 'cret']], false)
  expect(runAtOnce(maskTexts(rules('secret'), texts))).toEqual({ kind: 'pass' })
  expect(runAtOnce(findInTexts(rules('secret'), texts))).toEqual({ kind: 'pass' })
})

test('names the first rule that rejects', () => {
  expect(labelled(runAtOnce(findInTexts(rules('x', 'b', 'a'), textsOf([['ab']]))))).toEqual(refuse(1))
  expect(labelled(runAtOnce(findInTexts(rules('ab'), textsOf([['a', 'b']]))))).toEqual(refuse(0))
})

/** How often each part of the work yields. */
function stepsFor(body: unknown): Record<'walk' | 'read' | 'mask' | 'find' | 'write', number> {
  const bytes = Buffer.from(JSON.stringify(body))
  const document = parseDocument(bytes)
  if (!(document instanceof JsonValue)) throw new Error('not JSON')
  const walk = countSteps(FORMATS.Completions.readRequestTexts(document))
  const read = countSteps(GuardedTexts.read(bytes, walk.result))
  if ('unreadable' in read.result) throw new Error(read.result.unreadable)
  const find = countSteps(findInTexts(rules('k-\\d+'), read.result))
  const mask = countSteps(maskTexts(rules('a', 'k-\\d+'), read.result))
  const write = countSteps(read.result.apply())
  return { walk: walk.steps, read: read.steps, mask: mask.steps, find: find.steps, write: write.steps }
}

function countSteps<Result>(work: Steps<Result>): { steps: number; result: Result } {
  for (let steps = 0; ; steps++) {
    const step = work.next()
    if (step.done === true) return { steps, result: step.value }
  }
}

const chat = (content: unknown, more: object = {}) => ({ model: 'm', messages: [{ role: 'user', content }], ...more })
const many = <Item>(count: number, make: (index: number) => Item) => Array.from({ length: count }, (_, i) => make(i))
const called = (json: string) => {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: json } }
  return { model: 'm', messages: [{ role: 'assistant', tool_calls: [call] }] }
}
const deep = (depth: number): unknown => (depth === 0 ? 'an a' : [deep(depth - 1)])

// The largest step is a fraction of a millisecond: a body of twice the size has twice the steps.
test.each<[what: string, body: (count: number) => unknown, atLeast: ReturnType<typeof stepsFor>]>([
  [
    'parts',
    (count) => chat(many(count, () => ({ type: 'text', text: 'an a' }))),
    { walk: 60, read: 10, mask: 5, find: 2, write: 8 },
  ],
  [
    'messages',
    (count) => ({ messages: many(count, () => ({ role: 'user', content: 'an a' })) }),
    { walk: 45, read: 10, mask: 5, find: 2, write: 8 },
  ],
  [
    'tools',
    (count) =>
      chat('x', { tools: many(count, () => ({ type: 'function', function: { name: 'f', description: 'an a' } })) }),
    { walk: 90, read: 20, mask: 7, find: 5, write: 8 },
  ],
  [
    'lists of unknown members',
    (count) => ({ odd: many(count / 100, () => deep(200)) }),
    { walk: 60, read: 0, mask: 0, find: 0, write: 0 },
  ],
  [
    'strings in arguments',
    (count) => called(JSON.stringify(many(count, () => 'an a'))),
    { walk: 0, read: 30, mask: 4, find: 2, write: 10 },
  ],
  [
    'strings in arguments with a name twice',
    (count) => called(`{"x":1,"x":${JSON.stringify(many(count, () => 'b'))}}`),
    { walk: 0, read: 30, mask: 2, find: 2, write: 0 },
  ],
  ['characters', (count) => chat('a k-'.repeat(100 * count)), { walk: 0, read: 1, mask: 20, find: 8, write: 1 }],
])('bodies with very many %s are checked in steps', (_, body, atLeast) => {
  const one = stepsFor(body(2000))
  const two = stepsFor(body(4000))
  for (const [part, steps] of Object.entries(atLeast)) {
    const key = part as keyof typeof one
    expect(one[key], part).toBeGreaterThanOrEqual(steps)
    expect(two[key], part).toBeGreaterThanOrEqual(2 * one[key] - 2)
    expect(two[key], part).toBeLessThanOrEqual(2 * one[key] + 4)
  }
})

test('the beginning of a match rejects nothing', () => {
  const texts = textsOf([['a secret-x', 'secret-']])
  expect(runAtOnce(findInTexts(rules('secret-[0-9]'), texts))).toEqual({ kind: 'pass' })
})
