import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')
const PROGRAM = join(ROOT, 'bin', 'gatewright')

test.each([
  ['help in several parts', ['run', '--help'], 0],
  ['a result in several lines', ['fields', 'ProxyPolicy'], 0],
  ['a failed check', ['lint', '/no/such/file'], 1],
])('%s ends quietly when the reader of standard output is gone', async (_, words, code) => {
  const command = spawn(PROGRAM, words, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  command.stdout.destroy()
  const [complaints, [ended]] = await Promise.all([text(command.stderr), once(command, 'exit')])
  expect({ complaints, ended }).toEqual({ complaints: '', ended: code })
})

test('a usage error keeps its exit code when the readers of both outputs are gone', async () => {
  const command = spawn(PROGRAM, ['nonsense'], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  command.stdout.destroy()
  command.stderr.destroy()
  expect(await once(command, 'exit')).toEqual([2, null])
})

test.each([[['run', '--help']], [['version']]])('%s fails when the disk of standard output is full', async (words) => {
  const full = openSync('/dev/full', 'w')
  onTestFinished(() => closeSync(full))
  const command = spawn(PROGRAM, words, { cwd: ROOT, stdio: ['ignore', full, 'pipe'] })
  const [complaints, [ended]] = await Promise.all([text(command.stderr!), once(command, 'exit')])
  expect(complaints).toBe('gatewright: cannot write to standard output: ENOSPC: no space left on device, write\n')
  expect(ended).toBe(1)
})
