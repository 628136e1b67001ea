import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { killWriter } from './kill-writer.ts'

test('no acknowledged change is lost when the process is killed in the middle of writes', {
  timeout: 120_000,
}, async () => {
  const { kills, acknowledged } = await killWriter(join(temporaryFolder(), 'objects.db'), 3, 7)
  expect(kills).toBe(3)
  expect(acknowledged).toBeGreaterThan(10)
})
