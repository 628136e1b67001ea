import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { debianProgram } from '../counterparts.ts'

/** Runs the tool of Debian's Prometheus. */
export function promtool(words: readonly string[], input = ''): Promise<{ code: number; output: string }> {
  return runProgram(debianProgram('prometheus', 'usr/bin/promtool'), words, input)
}

/** @returns the exit code, and what it printed */
export async function runProgram(
  program: string,
  words: readonly string[],
  input: string,
): Promise<{ code: number; output: string }> {
  const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text: Buffer) => {
      output += text
    })
  }
  child.stdin.end(input)
  const [code] = (await once(child, 'close')) as [number]
  return { code, output: output.trim() }
}
