import { expect, test } from 'vitest'
import { runAtOnce, type Steps } from '#base/in-slices.ts'
import { ServiceContents } from './service-contents.ts'
import { GuardedText } from './texts/guarded-text.ts'
import type { GuardedRun } from './texts/guarded-texts.ts'

const text = (of: string, canChange = true) => new GuardedText(of, canChange)
const run = (role: GuardedRun['role'], ...texts: readonly GuardedText[]): GuardedRun => ({ role, joins: true, texts })
const contentsOf = (...runs: readonly GuardedRun[]) => runAtOnce(ServiceContents.of({ runs }))
const written = (...runs: readonly GuardedRun[]) => runs.map(({ texts }) => texts.map((each) => each.text))

function countYields(work: Steps<unknown>): number {
  let yields = 0
  while (work.next().done !== true) yields++
  return yields
}

test('a run with text is a message', () => {
  const runs = [
    run('user', text('a'), text(''), text('b')),
    run('user', text('')),
    run('system'),
    run('assistant', text(''), text(''), text('')),
    run('assistant', text(''), text('c')),
    run('tool', text(' ')),
  ]
  expect(contentsOf(...runs).messages).toEqual([
    { role: 'user', content: 'a  b' },
    { role: 'assistant', content: ' c' },
    { role: 'tool', content: ' ' },
  ])
})

test('masks go into the texts of their messages', () => {
  const runs = [
    run('user', text('')),
    run('assistant', text('a'), text('b'), text('secret')),
    run('user', text('f'), text('secret')),
  ]
  const contents = contentsOf(...runs)
  expect(contents.messages.map(({ content }) => content)).toEqual(['a b secret', 'f secret'])
  expect(runAtOnce(contents.mask(['a b no', 'f it']))).toBe(true)
  expect(written(...runs)).toEqual([[''], ['a', 'b', 'no'], ['f', 'it']])
})

test('a mask of what cannot change is refused', () => {
  const masked = (of: GuardedText) => runAtOnce(contentsOf(run('user', of)).mask(['<masked>']))
  expect([masked(text('a')), masked(text('a', false))]).toEqual([true, false])
})

test('long messages are shown in steps', () => {
  const long = () => run('user', text('x'.repeat(16_384)))
  expect(countYields(ServiceContents.of({ runs: [long(), long(), long()] }))).toBe(3)
  expect(countYields(ServiceContents.of({ runs: [run('user', text('x')), run('user', text('["x'))] }))).toBe(0)
})
