import { expect, test } from 'vitest'
import { reject } from '#exchange/outcome.ts'
import type { TextOwner } from '../../texts/read-together.ts'
import type { RegexGuard } from '../guard.ts'
import { RegexStage } from '../stages/regex-stage.ts'
import { SequencedText, TextSequences } from './text-sequences.ts'

const GUARD: RegexGuard = {
  phase: 'response',
  index: 0,
  kind: 'regex',
  rejects: false,
  refusal: reject('prompt-guard-rejected'),
  rules: [],
}
const ASSISTANT = { role: 'assistant', lasts: true } as const

test('the only text of a stream is not placed in any sequence', () => {
  const sequences = new TextSequences('Messages', () => true)
  const first = new SequencedText('content[0].text', ASSISTANT)
  const second = new SequencedText('content[1].text', ASSISTANT)
  expect(sequences.enter(first)).toBe(true)
  expect(first.links).toEqual([])
  expect(sequences.enter(second)).toBe(true)
  expect(first.links.map(({ sequence, after }) => [sequence, after?.text])).toEqual([['content', second]])
  expect(second.links.map(({ before, after }) => [before?.text, after])).toEqual([[first, undefined]])
})

test('what has left before a text is the end of the text before it', () => {
  const sequences = new TextSequences('Messages', () => true)
  const [first, second, third] = [0, 1, 2].map((at) => new SequencedText(`content[${at}].text`, ASSISTANT))
  for (const text of [first!, second!, third!]) sequences.enter(text)
  second!.block = { tail: 'the end' }
  expect([first!.tailBefore, second!.tailBefore, third!.tailBefore]).toEqual(['', '', 'the end'])
})

const textAt = (key: string, owner: TextOwner = ASSISTANT) => new SequencedText(key, owner)

/** By sequence, the texts before and after. */
const around = ({ links }: SequencedText) =>
  Object.fromEntries(links.map(({ sequence, before, after }) => [sequence, [before?.text.key, after?.text.key]]))

test('a text is placed where a client reads it, however late it begins', () => {
  const sequences = new TextSequences('Messages', () => true)
  const texts = [2, 0, 1].map((at) => textAt(`content[${at}].text`))
  for (const text of texts) expect(sequences.enter(text)).toBe(true)
  expect(texts.map(around)).toEqual([
    { content: ['content[1].text', undefined] },
    { content: [undefined, 'content[1].text'] },
    { content: ['content[0].text', 'content[2].text'] },
  ])
  expect(texts.map(({ isFollowed }) => isFollowed)).toEqual([false, true, true])
})

test('a text without an owner is in no sequence', () => {
  const sequences = new TextSequences('Messages', () => true)
  const alone = new SequencedText('content[0].text', undefined)
  const texts = [textAt('content[1].text'), alone, textAt('content[2].text')]
  for (const text of texts) expect(sequences.enter(text)).toBe(true)
  expect(alone.links).toEqual([])
  expect(around(texts[2]!)).toEqual({ content: ['content[1].text', undefined] })
})

test('of a sequence, the last 16 texts are remembered', () => {
  const sequences = new TextSequences('Messages', () => true)
  const texts = Array.from({ length: 17 }, (_, at) => textAt(`content[${at + 1}].text`))
  for (const text of texts.slice(0, 16)) sequences.enter(text)
  expect(texts.map(({ isForgotten }) => isForgotten)).not.toContain(true)
  // It would be forgotten at once.
  expect(sequences.enter(textAt('content[0].text'))).toBe(false)
  // Before the first one, as nothing is forgotten.
  expect(around(texts[0]!)).toEqual({ content: [undefined, 'content[2].text'] })
  expect(sequences.enter(texts[16]!)).toBe(true)
  expect(texts.map(({ isForgotten }) => isForgotten)).toEqual([true, ...Array(16).fill(false)])
  expect(around(texts[1]!)).toEqual({ content: [undefined, 'content[3].text'] })
  // What comes before texts that are forgotten cannot be checked.
  expect(sequences.enter(textAt('content[0].text'))).toBe(false)
  expect(sequences.enter(textAt('content[2].text[0]'))).toBe(true)
})

test('a sequence of more than 64 takes room if it lasts, or that of an item', () => {
  const room = { count: 0, isThere: true }
  const take = () => {
    room.count++
    return room.isThere
  }
  const choices = new TextSequences('Completions', take)
  const choice = (at: number) => textAt(`choices[${at}].delta.content`)
  for (let at = 0; at < 64; at++) expect(choices.enter(choice(at))).toBe(true)
  expect(room.count).toBe(0)
  expect(choices.enter(choice(64))).toBe(true)
  // A sequence that is there needs no room.
  expect(choices.enter(textAt('choices[64].delta.refusal'))).toBe(true)
  expect(room.count).toBe(1)
  room.isThere = false
  expect(choices.enter(choice(65))).toBe(false)
  choices.drop()
  expect(choices.enter(choice(66))).toBe(true)
  expect(choices.enter(choice(67))).toBe(true)
})

test('of the sequences of items, that which was used first is forgotten', () => {
  const sequences = new TextSequences('Responses', () => false)
  const roles = ['system', 'user', 'assistant', 'tool'] as const
  const part = (item: number, at: number) =>
    textAt(`output[${item}].content[${at}].text`, { role: roles[item % 4]!, lasts: true })
  // Each role has three sequences of several items.
  for (let item = 0; item < 52; item++) expect(sequences.enter(part(item, 0))).toBe(true)
  expect(sequences.enter(part(0, 1))).toBe(true)
  expect(sequences.enter(part(52, 0))).toBe(true)
  const [kept, lost] = [part(0, 2), part(1, 1)]
  expect([sequences.enter(kept), sequences.enter(lost)]).toEqual([true, true])
  expect(around(kept)['output[0]']).toEqual(['output[0].content[1].text', undefined])
  expect(around(lost)['output[1]']).toEqual([undefined, undefined])
})

/** A stage that tells which sequences end with its text. */
function stageOf(text: SequencedText, ended: string[]): RegexStage<unknown> {
  const out = { text() {}, finish() {} }
  const stage = new RegexStage(out, { guard: GUARD, isFixed: false, stream: { refuse() {}, noted() {} } })
  stage.endSequence = (sequence) => void ended.push(`${text.key} in ${sequence}`)
  text.stages.set(GUARD, stage)
  return stage
}

test('the end of a choice is that of its last text, and of no other choice', () => {
  const sequences = new TextSequences('Completions', () => true)
  const ended: string[] = []
  for (const [choice, name] of [
    [1, 'content'],
    [1, 'reasoning'],
    [10, 'content'],
  ] as const) {
    const text = textAt(`choices[${choice}].delta.${name}`)
    stageOf(text, ended)
    sequences.enter(text)
  }
  sequences.end('choices[1].')
  expect(ended.splice(0)).toEqual(['choices[1].delta.content in choices[1]'])
  sequences.end('')
  expect(ended).toEqual(['choices[1].delta.content in choices[1]', 'choices[10].delta.content in choices[10]'])
})

test('the stages behind a text are those of its next texts in all sequences, each once', () => {
  const sequences = new TextSequences('Responses', () => true)
  const [text, refusal, next] = ['content[0].text', 'content[1].refusal', 'content[2].text'].map((path) =>
    textAt(`output[0].${path}`),
  )
  const stages = [text, refusal, next].map((each) => stageOf(each!, []))
  for (const each of [text, refusal, next]) sequences.enter(each!)
  expect(text!.after(GUARD)).toEqual([stages[1], stages[2]])
  // Of the refusals, it is the last one.
  expect(refusal!.after(GUARD)).toEqual([stages[2]])
  expect(next!.after(GUARD)).toEqual([])
})

test('texts that are forgotten keep neither stages nor later texts in memory', () => {
  const sequences = new TextSequences('Messages', () => true)
  const texts = Array.from({ length: 18 }, (_, at) => textAt(`content[${at}].text`))
  for (const text of texts) {
    stageOf(text, [])
    sequences.enter(text)
  }
  expect(texts.map(({ stages }) => stages.size)).toEqual([0, 0, ...Array(16).fill(1)])
  expect(texts.slice(0, 3).map(around)).toEqual([
    { content: [undefined, undefined] },
    { content: [undefined, undefined] },
    { content: [undefined, 'content[3].text'] },
  ])
})

test('a text keeps its stages as long as it is remembered in one of its sequences', () => {
  const sequences = new TextSequences('Responses', () => true)
  const thought = textAt('output[0].summary[0].text', { role: 'assistant', lasts: false })
  stageOf(thought, [])
  sequences.enter(thought)
  const message = (at: number) => sequences.enter(textAt(`output[${at}].content[0].text`))
  for (let at = 1; at < 100; at++) expect(message(at)).toBe(true)
  expect([thought.isForgotten, thought.stages.size]).toEqual([true, 1])
  const later = textAt('output[100].summary[0].text', { role: 'assistant', lasts: false })
  sequences.enter(later)
  expect(around(later)['assistant thoughts']).toEqual([thought.key, undefined])
})

test('choices that have ended make room for others, and do not go on then', () => {
  const sequences = new TextSequences('Completions', () => false)
  const texts = Array.from({ length: 1000 }, (_, at) => textAt(`choices[${at}].delta.content`))
  for (const [at, text] of texts.entries()) {
    stageOf(text, [])
    expect(sequences.enter(text)).toBe(true)
    sequences.end(`choices[${at}].`)
  }
  // The first one got its sequence after its end.
  const forgotten = texts.slice(1, 937)
  expect(texts.filter(({ isForgotten }) => isForgotten)).toEqual(forgotten)
  expect(texts.filter(({ stages }) => stages.size === 0)).toEqual(forgotten)
})

test('a choice that goes on after its end does not make room', () => {
  const sequences = new TextSequences('Completions', () => true)
  const choice = (at: number, name = 'content') => textAt(`choices[${at}].delta.${name}`)
  for (let at = 0; at < 64; at++) expect(sequences.enter(choice(at))).toBe(true)
  sequences.end('choices[0].')
  const refusal = choice(0, 'refusal')
  expect(sequences.enter(refusal)).toBe(true)
  expect(sequences.enter(choice(64))).toBe(true)
  expect([refusal.isForgotten, around(refusal)['choices[0]']]).toEqual([false, ['choices[0].delta.content', undefined]])
})

test('of more than 1,024 choices, that which got a text first does not go on', () => {
  let taken = 0
  const sequences = new TextSequences('Completions', () => ++taken > 0)
  const texts = Array.from({ length: 1100 }, (_, at) => textAt(`choices[${at}].delta.content`))
  for (const text of texts) expect(sequences.enter(text)).toBe(true)
  expect(texts.map(({ isForgotten }) => isForgotten)).toEqual([...Array(76).fill(true), ...Array(1024).fill(false)])
  expect(taken).toBe(960)
})
