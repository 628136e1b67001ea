import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

const PROGRAM = join(import.meta.dirname, '..', 'bin', 'gatewright')

/** Whether a process exists. */
function runs(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('when the shell of npm ends, everything ends', { timeout: 60_000 }, async () => {
  // The shell does not pass signals on; it prints the id of the process that it waits for.
  const script = `"${PROGRAM}" quickstart "${temporaryFolder()}" & echo "pid $!"; wait`
  const shell = spawn('sh', ['-c', script], {
    env: {
      ...process.env,
      npm_lifecycle_event: 'start',
      GATEWRIGHT_ADMIN_ADDR: '127.0.0.1:0',
      GATEWRIGHT_STATS_ADDR: '127.0.0.1:0',
      GATEWRIGHT_READINESS_ADDR: '127.0.0.1:0',
      GATEWRIGHT_API_ADDR: '127.0.0.1:0',
    },
  })
  let output = ''
  shell.stdout.on('data', (chunk: Buffer) => {
    output += chunk
  })
  const pid = Number(await eventually('the process has begun', () => /pid (\d+)/.exec(output)?.[1]))
  let errors = ''
  shell.stderr.on('data', (chunk: Buffer) => {
    errors += chunk
  })
  await once(shell.stderr, 'data')
  shell.kill('SIGTERM')
  await once(shell, 'exit')
  expect(await eventually('the process has ended', () => !runs(pid) || undefined)).toBe(true)
  expect(errors, 'it was asked to end').not.toContain('ended with')
})
