import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { logSettings } from './log-settings.ts'
import { UsageError } from './usage-error.ts'

test('text from level info on, unless something else is set', () => {
  expect(logSettings({}, {})).toEqual({ format: 'text', accessFormat: 'text', levels: { others: 'info' } })
  expect(logSettings({}, { GATEWRIGHT_LOG_FORMAT: '', GATEWRIGHT_LOG_LEVEL: '' })).toEqual({
    format: 'text',
    accessFormat: 'text',
    levels: { others: 'info' },
  })
})

test('flags are stronger than the environment', () => {
  const environment = { GATEWRIGHT_LOG_FORMAT: 'json', GATEWRIGHT_LOG_LEVEL: 'debug' }
  expect(logSettings({}, environment)).toEqual({ format: 'json', accessFormat: 'json', levels: { others: 'debug' } })
  expect(logSettings({ logFormat: 'text', logLevel: 'error' }, environment)).toEqual({
    format: 'text',
    accessFormat: 'text',
    levels: { others: 'error' },
  })
})

test('levels by module', () => {
  expect(logSettings({ logLevel: 'proxy=debug,warn' }, {})).toEqual({
    format: 'text',
    accessFormat: 'text',
    levels: { others: 'warn', proxy: 'debug' },
  })
})

test.each([
  [{ logFormat: 'xml' }, {}, '--log-format is xml; it must be text or json'],
  [
    {},
    { GATEWRIGHT_LOG_LEVEL: 'all' },
    'GATEWRIGHT_LOG_LEVEL is all: "all" is not a level; levels are error, warn, info and debug',
  ],
  [
    { logLevel: 'info,prxy=debug' },
    {},
    '--log-level is info,prxy=debug: "prxy" is not a module of the log; modules are store, control, instance, workers, proxy, observe, apiserver, deliver and mesh',
  ],
])('%j %j is refused', (flags, environment, message) => {
  expect(() => logSettings(flags, environment)).toThrow(new UsageError(message))
})

describe('on a terminal', () => {
  const setTerminal = (isTTY: boolean) => {
    for (const stream of [process.stdout, process.stderr]) Object.assign(stream, { isTTY })
  }
  const before = process.stdout.isTTY
  beforeEach(() => setTerminal(true))
  afterEach(() => {
    vi.unstubAllEnvs()
    setTerminal(before)
  })

  test.each([
    ['short-colored', { FORCE_COLOR: '1' }],
    ['short', { FORCE_COLOR: '0' }],
  ])('lines are %s with %j', (format, variables) => {
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
    expect(logSettings({}, {})).toMatchObject({ format, accessFormat: format })
    expect(logSettings({}, { GATEWRIGHT_ACCESS_LOG: '/a' })).toMatchObject({ format, accessFormat: 'text' })
  })

  test.each([
    [{ logFormat: 'json' }, 'json'],
    [{ logFormat: 'text' }, 'text'],
    [{ verbose: true }, 'text'],
    [{ verbose: true, logFormat: 'json' }, 'json'],
  ] as const)('%j asks for all fields', (flags, format) => {
    expect(logSettings(flags, {})).toMatchObject({ format, accessFormat: format })
  })
})
