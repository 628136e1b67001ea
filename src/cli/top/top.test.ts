import { afterEach, expect, test, vi } from 'vitest'
import { ADMIN, SERVER_FIELD } from '#admin/server-field.ts'
import { EXIT } from '../exit-code.ts'
import { Screen } from '../output.ts'
import { top } from './top.ts'

afterEach(() => void vi.unstubAllGlobals())

test('a screen says that the gateway does not respond, and the command leaves no handler of signals', async () => {
  const screen = { size: { columns: 200, rows: 24 }, draw: vi.fn(), close: vi.fn() }
  vi.spyOn(Screen, 'open').mockReturnValue(screen as unknown as Screen)
  const counts = () => ['SIGINT', 'SIGTERM'].map((signal) => process.listenerCount(signal))
  const before = counts()
  let asked = 0
  vi.stubGlobal('fetch', async () => {
    asked++
    const report = { time: 1, startTime: 1, routes: [], backends: [] }
    if (asked === 1) return new Response(JSON.stringify(report), { headers: { [SERVER_FIELD]: ADMIN } })
    if (asked > 2) process.emit('SIGTERM')
    throw new TypeError('fetch failed')
  })
  expect(await top(undefined, { admin: 'http://127.0.0.1:15000', interval: '0.1' })).toBe(EXIT.ok)
  expect(screen.draw).toHaveBeenCalledOnce()
  expect(JSON.stringify(screen.draw.mock.calls)).toContain('waiting until it responds again')
  expect(screen.close).toHaveBeenCalled()
  expect(counts()).toEqual(before)
})
