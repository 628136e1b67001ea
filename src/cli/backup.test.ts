import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { configMap, openTable } from '#store/database/testing.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { runCommandLine } from './program.ts'

function outputOf(stream: 'log' | 'error'): string[] {
  const lines: string[] = []
  vi.spyOn(console, stream).mockImplementation((line: string) => void lines.push(line))
  return lines
}

test('backup copies the database of a state folder, and restore brings it back', async () => {
  const folder = temporaryFolder()
  const state = join(folder, 'state')
  mkdirSync(state)
  const { table } = openTable(join(state, 'objects.db'))
  table.commit([configMap('a', 'one')])
  const copy = join(folder, 'copy.db')
  const lines = outputOf('log')
  const faults = outputOf('error')
  expect(await runCommandLine(['backup', copy, '--state', state])).toBe(0)
  expect(await runCommandLine(['restore', copy, '--state', state])).toBe(1)
  expect(faults[0]).toContain('another process uses')
  table.close()
  expect(await runCommandLine(['restore', copy, '--state', state])).toBe(0)
  expect(lines).toEqual([
    `${copy} has 1 object of ${join(state, 'objects.db')}, and none of files; it may contain Secrets, so keep it as safe as the state folder`,
    expect.stringMatching(/objects\.db has 1 object of .*copy\.db; the database before is .*objects\.db\.replaced-/),
  ])
})

test.each(['backup', 'restore'])('%s of a file that does not exist fails with a message', async (command) => {
  const folder = temporaryFolder()
  const faults = outputOf('error')
  expect(await runCommandLine([command, join(folder, 'copy.db'), '--state', folder])).toBe(1)
  expect(faults[0]).toContain('no such file')
})
