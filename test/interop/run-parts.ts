import { MissingCounterpart } from './counterparts.ts'
import { Transcript } from './transcript.ts'

/** Runs the checks of one part; what it starts is stopped at its end. */
export type Part = (transcript: Transcript, stops: AsyncDisposableStack) => Promise<void>

/**
 * Runs the parts that the command line names, or all: one line per check, `ok` or what differs.
 *
 *     npm run COMMAND -- [--only PART,PART]
 *
 * What is missing is installed in a scratch folder with Go, npm, pip and Maven; what comes from Debian is named. Exit code 1 when a check
 * failed, 2 when a counterpart is missing.
 */
export async function runParts(command: string, parts: Readonly<Record<string, Part>>): Promise<void> {
  const transcript = new Transcript()
  const missing: string[] = []
  for (const part of chosenParts(command, Object.keys(parts), process.argv.slice(2))) {
    transcript.part = part
    await using stops = new AsyncDisposableStack()
    try {
      await parts[part]!(transcript, stops)
    } catch (error) {
      if (error instanceof MissingCounterpart) missing.push(`${part}: ${error.message}`)
      else transcript.fail(error instanceof Error ? (error.stack ?? error.message) : String(error))
    }
  }
  for (const line of missing) console.log(`MISSING ${line}`)
  console.log(`${transcript.checks} checks, ${transcript.failures} failed, ${missing.length} counterparts missing`)
  process.exitCode = transcript.failures > 0 ? 1 : missing.length > 0 ? 2 : 0
}

function chosenParts(command: string, parts: readonly string[], words: readonly string[]): readonly string[] {
  if (words.length === 0) return parts
  const chosen = words[0] === '--only' && words.length === 2 ? words[1]!.split(',') : []
  if (chosen.length > 0 && chosen.every((part) => parts.includes(part))) return chosen
  console.error(`usage: npm run ${command} -- [--only PART,PART]; the parts are ${parts.join(', ')}`)
  process.exit(2)
}
