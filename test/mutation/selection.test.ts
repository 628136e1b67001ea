import { expect, test } from 'vitest'
import { readSelection } from './selection.ts'

const PATHS = ['net/http1/framer.ts', 'net/http1/read-head.ts', 'cel/weights.ts']

test.each([
  [[], ['core', 'elsewhere']],
  [['core'], ['core']],
  [['net/http1'], ['net/http1']],
  [['src/net/http1/'], ['net/http1/']],
  [['./src/cel/weights.ts'], ['cel/weights.ts']],
  [
    ['src/net/http1/framer.ts:59', 'cel'],
    ['net/http1/framer.ts:59', 'cel'],
  ],
])('%j selects %j', (words, selected) => {
  expect(readSelection(words, PATHS)).toEqual({ selected, unknown: [] })
})

test.each(['net/http', 'test/mutation', 'cel/weights', 'cel/weights.ts:', 'src'])('%j matches no file', (word) => {
  expect(readSelection(['cel', word], PATHS)).toEqual({ selected: ['cel', word], unknown: [word] })
})
