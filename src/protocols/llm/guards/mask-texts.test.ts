import { expect, test } from 'vitest'
import { JsonValue, parseDocument } from '../json/json-document.ts'
import { REQUEST_TEXTS } from '../texts/dialect-texts.ts'
import { type GuardedText, GuardedTexts } from './guarded-texts.ts'
import { findInTexts, maskTexts, type RuleVerdict } from './mask-texts.ts'
import { compileRules } from './rules/compile-rules.ts'

/** Runs of texts: `!` begins one that cannot change, `-` one that does not join. Runs that are named together are a group. */
function textsOf(runs: readonly (readonly string[])[], groups: readonly (readonly number[])[] = []) {
  const read = runs.map((texts) => ({
    role: 'user' as const,
    texts: texts.map(
      (text): GuardedText => ({
        text: text.replace(/^[!-]/, ''),
        canChange: !text.startsWith('!'),
        joins: !text.startsWith('-'),
      }),
    ),
  }))
  const joined = groups.map((members) => members.flatMap((index) => read[index]!.texts.filter(({ joins }) => joins)))
  return { runs: read, groups: joined } as unknown as GuardedTexts
}

function rules(...matches: readonly string[]) {
  return compileRules({ matches: [...matches] }, (path, message) => {
    throw new Error(`${path}: ${message}`)
  })
}

function finish(work: Generator<undefined, RuleVerdict>): RuleVerdict {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

const mask = (rule: number): RuleVerdict => ({ kind: 'mask', rule: `matches[${rule}]` })
const refuse = (rule: number): RuleVerdict => ({ kind: 'reject', rule: `matches[${rule}]` })

test.each<[what: string, runs: string[][], groups: number[][], patterns: string[], after: string[][], RuleVerdict]>([
  ['nothing', [['one'], ['two']], [[0, 1]], ['x'], [['one'], ['two']], { kind: 'pass' }],
  ['each match', [['a1b2', '3'], ['4c']], [], ['[0-9]'], [['a<masked>b<masked>', '<masked>'], ['<masked>c']], mask(0)],
  ['the output of the rule before', [['ab']], [], ['b', 'a<masked>'], [['<masked>']], mask(1)],
  ['what the last rule does not find', [['ab']], [], ['b', 'x'], [['a<masked>']], mask(0)],
  ['a text that cannot change and has no match', [['!a', 'b']], [], ['b'], [['a', '<masked>']], mask(0)],
  ['a match in a text that cannot change', [['b', '!ab']], [], ['x', 'a'], [['b', 'ab']], refuse(1)],
  ['shares of two texts', [['x se', 'cret y']], [], ['secret'], [['x <masked>', '<masked> y']], mask(0)],
  [
    'shares of three texts',
    [['x s', 'ecre', 't y']],
    [],
    ['secret'],
    [['x <masked>', '<masked>', '<masked> y']],
    mask(0),
  ],
  [
    'matches across two boundaries',
    [['.ab', 'cab', 'c.']],
    [],
    ['abc'],
    [['.<masked>', '<masked><masked>', '<masked>.']],
    mask(0),
  ],
  ['a match that ends a text', [['1', 'ab', '2']], [], ['1ab'], [['<masked>', '<masked>', '2']], mask(0)],
  ['an empty text between', [['se', '', 'cret']], [], ['secret'], [['<masked>', '', '<masked>']], mask(0)],
  ['a share of a text that cannot change', [['se', '!cret']], [], ['secret'], [['se', 'cret']], refuse(0)],
  [
    'neighbours of texts that cannot change',
    [['!x', 'se', 'cret', '!y']],
    [],
    ['secret'],
    [['x', '<masked>', '<masked>', 'y']],
    mask(0),
  ],
  ['texts that do not join', [['se', '-x', 'cret']], [], ['secret'], [['<masked>', 'x', '<masked>']], mask(0)],
  ['one text that joins and one that does not', [['se', '-cret']], [], ['secret'], [['se', 'cret']], { kind: 'pass' }],
  ['runs of one group', [['a se'], ['cret b']], [[0, 1]], ['secret'], [['a <masked>'], ['<masked> b']], mask(0)],
  ['runs of no group', [['a se'], ['cret b']], [], ['secret'], [['a se'], ['cret b']], { kind: 'pass' }],
])('masks %s', (_, runs, groups, patterns, after, verdict) => {
  const texts = textsOf(runs, groups)
  expect(finish(maskTexts(rules(...patterns), texts))).toEqual(verdict)
  const shown = texts.runs.map((run) => run.texts.map(({ text }) => text))
  if (verdict.kind === 'reject') return
  expect(shown).toEqual(after)
  const found = finish(findInTexts(rules(...patterns), textsOf(runs, groups)))
  expect(found.kind).toBe(verdict.kind === 'pass' ? 'pass' : 'reject')
})

test('names the first rule that rejects', () => {
  expect(finish(findInTexts(rules('x', 'b', 'a'), textsOf([['ab']])))).toEqual(refuse(1))
  expect(finish(findInTexts(rules('x', 'ab', 'a'), textsOf([['a'], ['b']], [[0, 1]])))).toEqual(refuse(1))
  expect(finish(findInTexts(rules('ab'), textsOf([['a', 'b']])))).toEqual(refuse(0))
})

test('a body with many short texts does not hold the worker', () => {
  const call = { id: 'c', function: { name: 'f', arguments: JSON.stringify(new Array(1_000).fill('a')) } }
  const messages = [...new Array(1_000).fill({ role: 'user', content: 'a' }), { role: 'assistant', tool_calls: [call] }]
  const body = Buffer.from(JSON.stringify({ model: 'm', messages }))
  const document = parseDocument(body)
  if (!(document instanceof JsonValue)) throw new Error('not JSON')
  const places = REQUEST_TEXTS.Completions(document)
  expect(stepsOf(GuardedTexts.readInSteps(body, places))).toBeGreaterThan(10)
  const texts = GuardedTexts.read(body, places)
  if ('unreadable' in texts) throw new Error(texts.unreadable)
  expect(stepsOf(maskTexts(rules('k-\\d+'), texts))).toBeGreaterThan(20)
  expect(stepsOf(findInTexts(rules('k-\\d+'), texts))).toBeGreaterThan(20)
})

function stepsOf(work: Generator<undefined, unknown>): number {
  let steps = 0
  while (work.next().done !== true) steps++
  return steps
}
