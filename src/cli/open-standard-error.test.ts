import { expect, test, vi } from 'vitest'
import { openStandardError } from './output.ts'

test.each([
  [0, true],
  [16 * 1024 * 1024, true],
  [16 * 1024 * 1024 + 1, false],
])('with %i bytes that wait for the reader of standard error, a line is taken: %s', (waitingBytes, isTaken) => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const waiting = vi.spyOn(process.stderr, 'writableLength', 'get').mockReturnValue(waitingBytes)
  try {
    expect(openStandardError()('line\n')).toBe(isTaken)
    expect(write.mock.calls.map(([text]) => text)).toEqual(isTaken ? ['line\n'] : [])
  } finally {
    waiting.mockRestore()
    write.mockRestore()
  }
})
