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
