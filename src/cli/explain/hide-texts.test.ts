import { expect, test } from 'vitest'
import { hideTexts } from './hide-texts.ts'

test('texts are hidden at any depth; names of members and other values stay', () => {
  const value = {
    secret: 'a secret',
    list: ['secret', { of: 'secrets' }],
    n: 1,
    is: true,
    nothing: null,
    absent: undefined,
  }
  expect(hideTexts(value, (text) => text.replace('secret', '*'))).toEqual({
    ...{ secret: 'a *', list: ['*', { of: '*s' }], n: 1, is: true, nothing: null, absent: undefined },
  })
  expect(value.list[0]).toBe('secret')
})
