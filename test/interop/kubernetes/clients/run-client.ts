import { spawn } from 'node:child_process'
import { once } from 'node:events'

const LIMIT_MS = 180_000

/** Runs a program to its end. @returns its exit code and what it printed */
export async function runClient(
  program: string,
  words: readonly string[],
  {
    input = '',
    environment = {},
  }: { readonly input?: string; readonly environment?: Readonly<Record<string, string>> } = {},
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(program, words, { env: { ...process.env, ...environment }, timeout: LIMIT_MS })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (output += piece))
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}

/** The lines `name<TAB>seen` that a client prints, by name; what it printed instead, under its exit code. */
export function readReport({
  code,
  output,
}: {
  readonly code: number | null
  readonly output: string
}): Record<string, string> {
  const lines = output.split('\n').filter((line) => line.includes('\t'))
  const report = Object.fromEntries(lines.map((line) => line.split('\t', 2) as [string, string]))
  return code === 0 ? report : { ...report, [`exit ${code}`]: output.split('\n').slice(-8).join(' | ') }
}
