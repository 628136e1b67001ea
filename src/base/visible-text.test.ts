import { expect, test } from 'vitest'
import { escapeInvisible, escapeInvisibleInLines } from './visible-text.ts'

test.each([
  ['plain text', 'plain text', 'plain text'],
  ['grün, 日本', 'grün, 日本', 'grün, 日本'],
  ['one\n\ttwo', 'one\\u000a\\u0009two', 'one\n\ttwo'],
  ['\u001b[2J\u009b2J', '\\u001b[2J\\u009b2J', '\\u001b[2J\\u009b2J'],
  ['\u0000\r\u007f', '\\u0000\\u000d\\u007f', '\\u0000\\u000d\\u007f'],
  ['\u202egnp\u2028', '\\u202egnp\\u2028', '\\u202egnp\\u2028'],
  ['\u{e0041}', '\\udb40\\udc41', '\\udb40\\udc41'],
])('%j', (text, inOneLine, inLines) => {
  expect([escapeInvisible(text), escapeInvisibleInLines(text)]).toEqual([inOneLine, inLines])
})
