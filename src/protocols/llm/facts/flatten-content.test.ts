import { expect, test } from 'vitest'
import { flattenContent } from './flatten-content.ts'

test.each<[content: unknown, text: string]>([
  ['a', 'a'],
  [['a', { type: 'text', text: 'b' }], 'a|b'],
  [[{ type: 'image' }, { text: 7 }, { text: 'a' }, '', null, 7, 'b'], 'a||b'],
  [[], ''],
  [{ text: 'a' }, ''],
  [undefined, ''],
])('the text of %j', (content, text) => expect(flattenContent(content, '|')).toBe(text))
