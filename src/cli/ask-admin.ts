import { EXIT, type ExitCode } from './exit-code.ts'
import { complain } from './output.ts'
import { UsageError } from './usage-error.ts'

/** Time limit of a question, and of the head of a stream. */
const TIMEOUT_MS = 10_000

/** Response header that names the workers whose part of the answer is missing. */
const UNANSWERED = 'gatewright-unanswered-workers'

/** A failure was told. */
export interface Failed {
  readonly exitCode: ExitCode
}

/**
 * Asks the admin server of a running gateway. Tells why it cannot.
 * @param admin URL of the server
 * @param timeoutMs until the head of the answer
 * @throws UsageError if it is no URL
 */
export async function askAdmin(
  admin: string,
  path: string,
  parameters: Readonly<Record<string, string | undefined>> = {},
  timeoutMs = TIMEOUT_MS,
): Promise<Response | Failed> {
  const base = URL.parse(admin)
  if (base?.protocol !== 'http:') throw new UsageError(`--admin ${admin} is not a URL with scheme http`)
  const url = new URL(path, base)
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value)
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), timeoutMs)
  const response = await fetch(url, { signal: late.signal, redirect: 'error' }).catch(() => undefined)
  clearTimeout(timer)
  if (response === undefined) {
    complain(`no gateway responds at ${base.href}; --admin is the address of its admin server`)
    return { exitCode: EXIT.findings }
  }
  if (response.ok) return response
  const text = (await response.text()).trim()
  // The server names the parameter.
  if (response.status === 400) throw new UsageError(text)
  complain(`${base.href} responded with status ${response.status}: ${text}`)
  return { exitCode: EXIT.findings }
}

/** Tells which workers did not answer. @returns the exit code of a command that has printed the rest */
export function tellUnanswered(response: Response, what: string): ExitCode {
  const missing = response.headers.get(UNANSWERED)
  if (missing === null) return EXIT.ok
  complain(`without ${what} of ${missing}, which did not answer in time`)
  return EXIT.findings
}
