import { readdirSync, writeFileSync } from 'node:fs'
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

test('salvage replaces a damaged database, and says that objects may be lost', async () => {
  const state = temporaryFolder()
  writeFileSync(join(state, 'objects.db'), 'no database')
  const lines = outputOf('log')
  expect(await runCommandLine(['salvage', '--state', state])).toBe(1)
  expect(lines[0]).toContain('has the 0 objects that could be read; the damaged file is ')
  expect(lines[1]).toContain('are lost')
  expect(readdirSync(state)).toHaveLength(2)
  lines.length = 0
  expect(await runCommandLine(['salvage', '--state', state])).toBe(0)
  expect(lines).toEqual([`${join(state, 'objects.db')} is not damaged, or does not exist; nothing was changed`])
})

test('salvage leaves a database alone that a gateway uses', async () => {
  const state = temporaryFolder()
  const { table } = openTable(join(state, 'objects.db'))
  table.commit([configMap('a', 'one')])
  const lines = outputOf('error')
  expect(await runCommandLine(['salvage', '--state', state])).toBe(1)
  expect(lines[0]).toContain('another process uses')
  table.close()
})
