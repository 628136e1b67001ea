import { afterEach, expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { LEVELS, type Level, readLogFilter } from '#base/log-levels.ts'
import { ApplicationLog, type LogFields, type LogSettings } from './application-log.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

function written(
  settings: Partial<LogSettings>,
  ...messages: readonly (readonly [Level, string, LogFields?])[]
): string {
  vi.spyOn(clock, 'now').mockReturnValue(1_800_000_000_000)
  let text = ''
  const log = new ApplicationLog({ format: 'text', levels: { others: 'info' }, ...settings }, (line) => {
    text += line
    return true
  })
  for (const message of messages) log.log('proxy', ...message)
  return text
}

test('a message with fields, as text and as JSON', () => {
  const message = ['warn', 'it is late', { a: 'x y', b: 2, none: undefined, empty: '' }] as const
  expect(written({}, message)).toBe('2027-01-15T08:00:00.000Z\twarn\tit is late a="x y" b=2\n')
  expect(written({ format: 'json' }, message)).toBe(
    '{"level":"warn","time":"2027-01-15T08:00:00.000Z","scope":"gateway","module":"proxy","message":"it is late","a":"x y","b":2}\n',
  )
})

test.each([
  ['error', 1],
  ['warn', 2],
  ['info', 3],
  ['debug', 4],
] as const)('at level %s the first %i levels are written', (level, count) => {
  const all = LEVELS.map((each) => [each, each] as const)
  const lines = written({ levels: { others: level } }, ...all).split('\n')
  expect(lines.slice(0, -1).map((line) => line.split('\t')[1])).toEqual(LEVELS.slice(0, count))
})

test.each([
  ['info', 'store info\nproxy info\n'],
  ['warn,proxy=debug', 'proxy info\nproxy debug\n'],
  ['proxy=error', 'store info\n'],
  ['debug, store = error', 'proxy info\nproxy debug\n'],
])('the filter %s', (filter, lines) => {
  vi.spyOn(clock, 'now').mockReturnValue(0)
  let text = ''
  const log = new ApplicationLog({ format: 'text', levels: readLogFilter(filter).levels }, (line) => {
    text += `${line.split('\t')[2]}`
    return true
  })
  for (const module of ['store', 'proxy'] as const) {
    for (const level of ['info', 'debug'] as const) log.log(module, level, `${module} ${level}`)
  }
  expect(text).toBe(lines)
})

test('several lines stand under the message in text, where nothing of them reaches the terminal, and in it in JSON', () => {
  const message = ['error', 'bug', { stack: 'Error\u001b[2J\n\tat x', n: 1 }] as const
  expect(written({}, message)).toBe('2027-01-15T08:00:00.000Z\terror\tbug n=1\n    Error\\u001b[2J\n    \\u0009at x\n')
  expect(JSON.parse(written({ format: 'json' }, message))).toMatchObject({ stack: 'Error\u001b[2J\n\tat x', n: 1 })
})

test.each([
  ['text', '2027-01-15T08:00:00.000Z\terror\tmessages of this log were lost lost=2\n'],
  [
    'json',
    '{"level":"error","time":"2027-01-15T08:00:00.000Z","scope":"gateway","module":"observe","message":"messages of this log were lost","lost":2}\n',
  ],
] as const)('the first %s line after lost ones has their number in front of it, once', (format, lossLine) => {
  vi.spyOn(clock, 'now').mockReturnValue(1_800_000_000_000)
  const lines: string[] = []
  let hasRoom = true
  const log = new ApplicationLog({ format, levels: { others: 'error' } }, (text) => {
    if (hasRoom) lines.push(text)
    return hasRoom
  })
  const [first, ...lost] = ['a', 'b', 'c']
  log.log('proxy', 'error', first!)
  hasRoom = false
  for (const message of lost) log.log('proxy', 'error', message)
  hasRoom = true
  for (const message of ['d', 'e']) log.log('proxy', 'error', message)
  expect(lines).toHaveLength(3)
  expect(lines[1]!.startsWith(lossLine)).toBe(true)
  expect(lines.filter((line) => line.includes('were lost'))).toHaveLength(1)
})
