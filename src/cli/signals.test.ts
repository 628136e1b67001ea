import { expect, test } from 'vitest'
import { watchTerminal } from './signals.ts'

test.each<[what: string, atStart: readonly number[], atSignal: readonly number[], meaning: string]>([
  ['no terminal started it', [], [], 'reload'],
  ['its terminal is there', [0, 1, 2], [0, 1, 2], 'reload'],
  ['its terminal was closed', [0, 1, 2], [], 'stop'],
  ['its terminal was closed, and only errors went there', [2], [], 'stop'],
  ['its output goes elsewhere, its terminal is there', [0, 2], [0, 2], 'reload'],
])('SIGHUP: %s', (_, atStart, atSignal, meaning) => {
  let terminals = atStart
  const meaningNow = watchTerminal((descriptor) => terminals.includes(descriptor))
  terminals = atSignal
  expect(meaningNow()).toBe(meaning)
})
