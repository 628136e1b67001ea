import { expect, test } from 'vitest'
import { plainWord } from '#base/products.ts'
import * as meanings from './meanings.ts'

for (const [name, words] of Object.entries(meanings)) {
  test(`${name}: each word is as it is looked up`, () => {
    for (const word of Object.keys(words)) {
      expect(plainWord(word)).toBe(word)
      expect(word).not.toBe('')
    }
  })
}
