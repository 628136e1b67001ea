import { expect, onTestFinished, test, vi } from 'vitest'
import { Signals, watchTerminal } from './signals.ts'

test.each<[what: string, atStart: readonly number[], atSignal: readonly number[], meaning: string]>([
  ['no terminal started it', [], [], 'reload'],
  ['its terminal is there', [0, 1, 2], [0, 1, 2], 'reload'],
  ['its terminal was closed', [0, 1, 2], [], 'stop'],
  ['its terminal was closed, and only errors went there', [2], [], 'stop'],
  ['its output goes elsewhere, its terminal is there', [0, 2], [0, 2], 'reload'],
])('SIGHUP: %s', (_, atStart, atSignal, meaning) => {
  let terminals = atStart
  const meaningNow = watchTerminal((descriptor) => terminals.includes(descriptor))
  terminals = atSignal
  expect(meaningNow()).toBe(meaning)
})

test('SIGHUP reloads once there is something to reload, and not after a request to stop', async () => {
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1'] as const
  const before = names.map((name) => process.listeners(name))
  const signals = new Signals()
  onTestFinished(() => {
    for (const [i, name] of names.entries())
      for (const listener of process.listeners(name)) if (!before[i]!.includes(listener)) process.off(name, listener)
  })
  const reload = vi.fn()
  process.emit('SIGHUP')
  signals.onReload(reload)
  process.emit('SIGUSR1')
  expect(reload).not.toHaveBeenCalled()
  process.emit('SIGHUP')
  expect(reload).toHaveBeenCalledTimes(1)
  process.emit('SIGTERM')
  await signals.stopped
  process.emit('SIGHUP')
  expect(reload).toHaveBeenCalledTimes(1)
})
