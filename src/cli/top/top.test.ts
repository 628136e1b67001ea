import { expect, test, vi } from 'vitest'
import { askAdmin } from '../ask-admin.ts'
import { EXIT } from '../exit-code.ts'
import { Screen } from '../output.ts'
import { top } from './top.ts'
import { waitingLines } from './top-lines.ts'

vi.mock('../ask-admin.ts')

const REPORT = { text: JSON.stringify({ time: 1, startTime: 1, routes: [], backends: [] }) }
const FLAGS = { admin: 'http://127.0.0.1:15000', interval: '0.1' }

test('a screen says that the gateway does not respond, and the command leaves no handler of signals', async () => {
  const size = { columns: 80, rows: 24 }
  const screen = { size, draw: vi.fn(), close: vi.fn() }
  vi.spyOn(Screen, 'open').mockReturnValue(screen as unknown as Screen)
  const signals = ['SIGINT', 'SIGTERM'] as const
  const counts = () => signals.map((signal) => process.listenerCount(signal))
  const before = counts()
  vi.mocked(askAdmin)
    .mockResolvedValueOnce(REPORT as never)
    .mockImplementationOnce(async (_admin, _path, question) => {
      question!.tell!('nothing listens')
      return { exitCode: EXIT.findings } as never
    })
    .mockImplementation(async () => {
      process.emit('SIGTERM')
      return { exitCode: EXIT.findings } as never
    })
  expect(await top(FLAGS)).toBe(EXIT.ok)
  const text = 'nothing listens; waiting until it responds again'
  expect(screen.draw.mock.calls).toEqual([[waitingLines(text, size as never)]])
  expect(screen.close).toHaveBeenCalled()
  expect(counts()).toEqual(before)
})
