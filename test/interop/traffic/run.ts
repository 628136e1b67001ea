import { checkBrowser } from './browser.ts'
import { MissingCounterpart } from './counterparts.ts'
import { checkExternalAuthorization } from './external-authorization.ts'
import { checkExternalProcessing } from './external-processing.ts'
import { checkPasswords } from './passwords.ts'
import { checkRateLimits } from './rate-limits.ts'
import { checkTokens } from './tokens.ts'
import { Transcript } from './transcript.ts'

/**
 * Checks traffic policies of a running gateway against other implementations of what they speak: one line per check, `ok` or what differs.
 *
 *     npm run interop:traffic -- [--only PART,PART]
 *
 * What is missing is installed in a scratch folder with Go, npm, pip and Maven; what comes from Debian is named. Exit code 1 when a check
 * failed, 2 when a counterpart is missing.
 */
const PARTS: Readonly<Record<string, (transcript: Transcript, stops: AsyncDisposableStack) => Promise<void>>> = {
  htpasswd: checkPasswords,
  tokens: checkTokens,
  'rate-limits': checkRateLimits,
  'external-authorization': checkExternalAuthorization,
  'external-processing': checkExternalProcessing,
  browser: checkBrowser,
}

function chosenParts(words: readonly string[]): readonly string[] {
  if (words.length === 0) return Object.keys(PARTS)
  const chosen = words[0] === '--only' && words.length === 2 ? words[1]!.split(',') : []
  if (chosen.length > 0 && chosen.every((part) => part in PARTS)) return chosen
  console.error(`usage: npm run interop:traffic -- [--only PART,PART]; the parts are ${Object.keys(PARTS).join(', ')}`)
  process.exit(2)
}

const transcript = new Transcript()
const missing: string[] = []
for (const part of chosenParts(process.argv.slice(2))) {
  transcript.part = part
  await using stops = new AsyncDisposableStack()
  try {
    await PARTS[part]!(transcript, stops)
  } catch (error) {
    if (error instanceof MissingCounterpart) missing.push(`${part}: ${error.message}`)
    else transcript.fail(error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
}
for (const line of missing) console.log(`MISSING ${line}`)
console.log(`${transcript.checks} checks, ${transcript.failures} failed, ${missing.length} counterparts missing`)
process.exitCode = transcript.failures > 0 ? 1 : missing.length > 0 ? 2 : 0
