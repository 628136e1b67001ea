import fs from 'node:fs'
import tty from 'node:tty'
import { beforeEach, expect, test, vi } from 'vitest'
import { openStandardOutput } from './open-log.ts'

beforeEach(() => void vi.spyOn(tty, 'isatty').mockReturnValue(true))

test('a terminal is opened anew, so that writes do not wait, and without making it the own one', () => {
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = fs.constants
  const open = vi.spyOn(fs, 'openSync').mockReturnValue(77)
  expect(openStandardOutput().descriptor).toBe(77)
  expect(open).toHaveBeenCalledWith('/proc/self/fd/1', O_WRONLY | O_NONBLOCK | O_NOCTTY)
})

test('a terminal that cannot be opened is used as it is', () => {
  vi.spyOn(fs, 'openSync').mockImplementation(() => {
    throw new Error('EACCES')
  })
  expect(openStandardOutput().descriptor).toBe(1)
})
