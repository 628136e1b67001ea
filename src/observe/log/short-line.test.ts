import { stripVTControlCharacters } from 'node:util'
import { beforeEach, expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import type { Level } from '#base/log-levels.ts'
import { Ended } from '../ended.ts'
import { observed } from '../testing.ts'
import { AccessLog } from './access-log.ts'
import { ApplicationLog, type LogFields } from './application-log.ts'
import { LINE_FORMATS, type LogFormat } from './line-formats.ts'

beforeEach(() => void vi.spyOn(clock, 'now').mockReturnValue(new Date(2026, 1, 3, 14, 5, 6, 78).getTime()))

function logged(format: LogFormat, level: Level, message: string, fields: LogFields): string {
  let text = ''
  const log = new ApplicationLog({ format, levels: { others: 'debug' } }, (line) => {
    text += line
    return true
  })
  log.log('instance', level, message, fields)
  return text
}

test('a message has the time of day, and not all fields', () => {
  const fields = { admin: 'http://127.0.0.1:15000', 'metrics.port': 15_020 }
  expect(logged('short', 'info', 'ready', fields)).toBe('14:05:06 info  ready admin=http://127.0.0.1:15000\n')
  const listening = { url: 'http://127.0.0.1:8080', listener: 'default/main/http' }
  expect(logged('short', 'error', 'listening', listening)).toBe(
    '14:05:06 error listening http://127.0.0.1:8080 listener=default/main/http\n',
  )
})

test('a long text is below the line, and controls no terminal', () => {
  const problem = `${'a'.repeat(61)} "b"\u001b[2J\nc`
  expect(logged('short', 'warn', 'problem', { problem, at: 'a.yaml:1:2' })).toBe(
    `14:05:06 warn  problem at=a.yaml:1:2\n    ${'a'.repeat(61)} "b"\\u001b[2J\n    c\n`,
  )
  expect(logged('short', 'warn', 'problem', { cause: 'a b\u001b[2J' })).toContain('cause="a b\\u001b[2J"\n')
})

test('colours are added to the same text', () => {
  const colored = logged('short-colored', 'error', 'stopped', { cause: 'x' })
  expect(colored).toContain('\u001b[31merror\u001b[39m')
  expect(stripVTControlCharacters(colored)).toBe(logged('short', 'error', 'stopped', { cause: 'x' }))
})

test('a request has its main fields', () => {
  const lines: string[] = []
  const request = observed({ line: 'POST /a?b=c', endpointLabel: '127.0.0.1:9000', status: 503 })
  new AccessLog(LINE_FORMATS.short, (line) => lines.push(line)).log(new Ended(request, clock.now(), 12.4, 'it broke'))
  expect(lines).toEqual(['14:05:06 info  request POST example.com /a?b=c 503 error="it broke" duration=12.4ms\n'])
})
