import { expect, test } from 'vitest'
import { labelMatch } from './label-selector.ts'

const LABELS = { app: 'shop', tier: 'web', empty: '', 'example.com/team': 'a' }

test.each([
  ['', true],
  ['app=shop', true],
  ['app==shop', true],
  ['app = shop , tier = web', true],
  ['app=other', false],
  ['app!=other', true],
  ['app!=shop', false],
  ['missing!=x', true],
  ['app', true],
  ['missing', false],
  ['!missing', true],
  ['!app', false],
  ['tier in (web, api)', true],
  ['tier in (api)', false],
  ['tier notin (api)', true],
  ['missing notin (api)', true],
  ['example.com/team=a,app', true],
  ['empty=', true],
  ['app=shop,tier=api', false],
])('%s', (text, expected) => {
  expect(labelMatch(text)(LABELS)).toBe(expected)
})

test.each(['app=shop,', '=x', 'app in web', 'app in (a', 'a b', 'app=a=b', '-x=1', 'app=-x', 'a,,b'])(
  '%s is refused',
  (text) => {
    expect(() => labelMatch(text)).toThrow('unable to parse requirement')
  },
)

test('an object without labels', () => {
  expect([labelMatch('app')(undefined), labelMatch('!app')(undefined)]).toEqual([false, true])
})

test('at most a thousand requirements', () => {
  const requirements = (count: number) => Array.from({ length: count }, () => 'a').join()
  expect(labelMatch(requirements(1000))({ a: '' })).toBe(true)
  expect(() => labelMatch(requirements(1001))).toThrow('more than 1000 requirements')
})

test('long gaps and lists of values are read at once', () => {
  const gap = ' '.repeat(300_000)
  expect(labelMatch(`a${gap}in${gap}(b,${gap}c)${gap}`)({ a: 'c' })).toBe(true)
  expect(() => labelMatch(`a${gap}(`)).toThrow('found "a (", expected')
  const values = Array.from({ length: 100_000 }, (_, at) => `v${at}`).join()
  const match = labelMatch(`a in (${values})`)
  expect([1, 'x'].map((at) => match({ a: `v${at}` }))).toEqual([true, false])
})
