import { readFileSync } from 'node:fs'
import { UsageError } from './usage-error.ts'

/** The value of `--output` of commands that print text or one JSON object. @throws UsageError */
export function outputIn({ output = 'text' }: { readonly output?: string }): 'text' | 'json' {
  if (output !== 'text' && output !== 'json') throw new UsageError(`--output is text or json, not ${output}`)
  return output
}

/**
 * A secret. `@path`: the file has it, so that neither the list of processes nor the history of the shell does.
 * @throws UsageError if the file cannot be read
 */
export function secretIn(option: string, value: string | undefined): string | undefined {
  if (!value?.startsWith('@')) return value
  try {
    return readFileSync(value.slice(1), 'utf8').trim()
  } catch (error) {
    throw new UsageError(`${option}: ${(error as Error).message}`)
  }
}
