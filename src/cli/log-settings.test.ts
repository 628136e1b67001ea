import { expect, test } from 'vitest'
import { logSettings } from './log-settings.ts'
import { UsageError } from './usage-error.ts'

test('text from level info on, unless something else is set', () => {
  expect(logSettings({}, {})).toEqual({ format: 'text', level: 'info' })
  expect(logSettings({}, { GATEWRIGHT_LOG_FORMAT: '', GATEWRIGHT_LOG_LEVEL: '' })).toEqual({
    format: 'text',
    level: 'info',
  })
})

test('flags are stronger than the environment', () => {
  const environment = { GATEWRIGHT_LOG_FORMAT: 'json', GATEWRIGHT_LOG_LEVEL: 'debug' }
  expect(logSettings({}, environment)).toEqual({ format: 'json', level: 'debug' })
  expect(logSettings({ logFormat: 'text', logLevel: 'error' }, environment)).toEqual({ format: 'text', level: 'error' })
})

test.each([
  [{ logFormat: 'xml' }, {}, '--log-format is xml; it must be text or json'],
  [{}, { GATEWRIGHT_LOG_LEVEL: 'all' }, 'GATEWRIGHT_LOG_LEVEL is all; it must be error, warn, info or debug'],
])('%j %j is refused', (flags, environment, message) => {
  expect(() => logSettings(flags, environment)).toThrow(new UsageError(message))
})
