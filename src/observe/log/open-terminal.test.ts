import * as fs from 'node:fs'
import { expect, test, vi } from 'vitest'
import { openStandardOutput } from './open-log.ts'

vi.mock('node:tty', () => ({ isatty: () => true }))
vi.mock('node:fs', async (original) => ({ ...(await original<typeof fs>()), openSync: vi.fn() }))

test('a terminal is opened anew, so that writes do not wait, and without making it the own one', () => {
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = fs.constants
  vi.mocked(fs.openSync).mockReturnValue(77)
  expect(openStandardOutput().descriptor).toBe(77)
  expect(fs.openSync).toHaveBeenCalledWith('/proc/self/fd/1', O_WRONLY | O_NONBLOCK | O_NOCTTY)
})

test('a terminal that cannot be opened is used as it is', () => {
  vi.mocked(fs.openSync).mockImplementation(() => {
    throw new Error('EACCES')
  })
  expect(openStandardOutput().descriptor).toBe(1)
})
