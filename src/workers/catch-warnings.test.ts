import { afterEach, expect, test } from 'vitest'
import type { LogFields } from '#observe/log/application-log.ts'
import { catchWarnings } from './catch-warnings.ts'

const before = process.listeners('warning')

afterEach(() => {
  process.removeAllListeners('warning')
  for (const listener of before) process.on('warning', listener)
})

test('a runtime warning is handed on instead of written', async () => {
  const taken: LogFields[] = []
  catchWarnings((fields) => taken.push(fields))
  expect(process.listenerCount('warning')).toBe(1)
  process.emitWarning('it is old', { type: 'DeprecationWarning', code: 'DEP1' })
  process.emitWarning('odd')
  await new Promise(setImmediate)
  expect(taken).toEqual([
    { name: 'DeprecationWarning', code: 'DEP1', cause: 'it is old' },
    { name: 'Warning', code: undefined, cause: 'odd' },
  ])
})
