import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const PROGRAM = fileURLToPath(new URL('../testing/half-heads.ts', import.meta.url))

test('an incomplete header block does not end the process', async () => {
  const { stdout } = await run(process.execPath, ['--expose-gc', PROGRAM])
  expect(stdout.trimEnd().split('\n')).toEqual([
    'a client disconnects',
    'a client disconnects after its response was cut',
    'a server disconnects',
  ])
})
