import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { vi } from 'vitest'
import { runCommandLine } from '#cli/program.ts'

const ROOT = join(import.meta.dirname, '..', '..')

export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

type Environment = Readonly<Record<string, string>>

/**
 * Runs a command in this thread, from the root of the project: a process would load the whole program again. One at a time.
 * @param environment further variables
 */
export async function gatewright(words: readonly string[], environment: Environment = {}): Promise<CommandResult> {
  const output = { stdout: '', stderr: '' }
  const to = (name: keyof typeof output, end: string) => (text: unknown) => {
    output[name] += `${text}${end}`
    return true
  }
  const spies = [
    vi.spyOn(console, 'log').mockImplementation(to('stdout', '\n')),
    vi.spyOn(console, 'error').mockImplementation(to('stderr', '\n')),
    vi.spyOn(process.stdout, 'write').mockImplementation(to('stdout', '')),
    vi.spyOn(process.stderr, 'write').mockImplementation(to('stderr', '')),
  ]
  const before = Object.keys(environment).map((name) => [name, process.env[name]] as const)
  Object.assign(process.env, environment)
  try {
    const code = await runCommandLine(words)
    return { code, ...output }
  } finally {
    for (const spy of spies) spy.mockRestore()
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}

/** Runs a command as users do, in a process that has to end. */
export function gatewrightProcess(words: readonly string[], environment: Environment = {}): Promise<CommandResult> {
  return new Promise((resolve) => {
    const options = { cwd: ROOT, env: { ...process.env, ...environment } }
    execFile(join(ROOT, 'bin', 'gatewright'), words, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
    })
  })
}
