import { EXIT, type ExitCode } from './exit-code.ts'

export async function explain(_request: readonly string[], _options: object): Promise<ExitCode> {
  return EXIT.ok
}
