import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { builtGoProgram } from '../counterparts.ts'

/** Runs a program of `go/` with one line of input per value. @returns the lines that it prints */
export async function askReferee(name: string, args: readonly string[], inputs: readonly unknown[]): Promise<string[]> {
  const child = spawn(builtGoProgram(join(import.meta.dirname, 'go'), name), args, {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  for (const input of inputs) child.stdin.write(`${JSON.stringify(input)}\n`)
  child.stdin.end()
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) lines.push(line)
  const [code] = await ended
  if (code !== 0) throw new Error(`${name} ended with code ${code}`)
  return lines
}

/** JSON with sorted keys. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}
