import { expect, onTestFinished, test, vi } from 'vitest'
import { Screen } from './output.ts'

function terminal(isTTY: boolean, term: string) {
  const written: string[] = []
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0)
  const before = Object.getOwnPropertyDescriptor(process.stdout, 'isTTY')
  Object.defineProperty(process.stdout, 'isTTY', { value: isTTY, configurable: true })
  vi.stubEnv('TERM', term)
  onTestFinished(() => {
    if (before === undefined) Reflect.deleteProperty(process.stdout, 'isTTY')
    else Object.defineProperty(process.stdout, 'isTTY', before)
    vi.unstubAllEnvs()
  })
  return written
}

test('lines replace those before, and the terminal is as before at the end', () => {
  const written = terminal(true, 'xterm')
  const screen = Screen.open()!
  screen.draw([[{ text: 'one' }], [{ text: 'a\u001b[2J' }]])
  screen.draw([[{ text: 'two' }]])
  screen.close()
  screen.close()
  expect(written).toEqual([
    '\u001b[?1049h\u001b[?25l\u001b[Hone\u001b[K\na\\u001b[2J\u001b[K\u001b[J',
    '\u001b[Htwo\u001b[K\u001b[J',
    '\u001b[?25h\u001b[?1049l',
  ])
  expect(screen.size.columns).toBeGreaterThan(0)
  expect(screen.size.rows).toBeGreaterThan(0)
})

for (const [isTTY, term] of [
  [false, 'xterm'],
  [true, 'dumb'],
] as const) {
  test(`there is no screen with isTTY ${isTTY} and TERM ${term}`, () => {
    terminal(isTTY, term)
    expect(Screen.open()).toBeUndefined()
  })
}
