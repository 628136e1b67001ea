import { expect, test, vi } from 'vitest'
import { complain, print, printJson, printText } from './output.ts'

function written(channel: 'log' | 'error', write: () => void): unknown[] {
  const spy = vi.spyOn(console, channel).mockImplementation(() => {})
  write()
  return spy.mock.lastCall ?? []
}

const HOSTILE = 'a\nb\r\u001b[2J\u009b\u202e\t'
const ESCAPED = 'a\\u000ab\\u000d\\u001b[2J\\u009b\\u202e\\u0009'

test('a text of others is part of one line, and controls no terminal', () => {
  expect(written('log', () => print(`name: ${HOSTILE}`))).toEqual([`name: ${ESCAPED}`])
  expect(written('error', () => complain(HOSTILE, `  ${HOSTILE}`))).toEqual([`gatewright: ${ESCAPED}\n  ${ESCAPED}`])
})

test('a text of several lines keeps them, and no other controls', () => {
  expect(written('log', () => printText('a\nb\u001b[2J'))).toEqual(['a\nb\\u001b[2J'])
  expect(written('log', () => printJson({ a: 'b\n\u202e' }))).toEqual(['{\n  "a": "b\\n\\u202e"\n}'])
})
