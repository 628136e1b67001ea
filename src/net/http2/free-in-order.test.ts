import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const PROGRAM = fileURLToPath(new URL('../testing/half-heads.ts', import.meta.url))

test.each(['a client disconnects', 'a client disconnects after its response was cut', 'a server disconnects'])(
  'an incomplete header block does not end the process: %s',
  async (name) => {
    const { stdout } = await run(process.execPath, ['--expose-gc', PROGRAM, name])
    expect(stdout).toBe('alive\n')
  },
)
