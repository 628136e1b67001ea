import type { DescribedSession } from '#admin/mcp-sessions.ts'
import { callText, idleText } from '#admin/session-rows.ts'
import { count } from '#base/count.ts'
import { parseJson } from '#base/parse-json.ts'
import { shortDuration } from '#base/short-duration.ts'
import { oneOf } from './environment.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { complain, print } from './output.ts'
import { UsageError } from './usage-error.ts'

export interface SessionsFlags {
  /** URL of the admin server. */
  readonly admin: string
  readonly backend?: string
  readonly output?: string
}

const TIMEOUT_MS = 10_000

/** Prints the sessions of MCP clients of a running gateway. */
export async function mcpSessions({ admin, backend, output }: SessionsFlags): Promise<ExitCode> {
  const isJson = oneOf(['text', 'json'], ['--output', output]) === 'json'
  const base = URL.parse(admin)
  if (base?.protocol !== 'http:') throw new UsageError(`--admin ${admin} is not a URL with scheme http`)
  const url = new URL('/mcp_sessions', base)
  if (backend !== undefined) url.searchParams.set('backend', backend)
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(() => undefined)
  if (response === undefined) {
    complain(`no gateway responds at ${base.href}; --admin is the address of its admin server`)
    return EXIT.findings
  }
  const text = await response.text()
  if (!response.ok) {
    complain(`${base.href} responded with status ${response.status}: ${text.trim()}`)
    return EXIT.findings
  }
  const sessions = parseJson(text) as readonly DescribedSession[]
  if (isJson) print(JSON.stringify(sessions, undefined, 2))
  else for (const line of sessionLines(sessions)) print(line)
  const missing = response.headers.get('gatewright-unanswered-workers')
  if (missing === null) return EXIT.ok
  complain(`without the sessions of ${missing}, which did not answer in time`)
  return EXIT.findings
}

/** For people: a paragraph for each session. */
function sessionLines(sessions: readonly DescribedSession[]): readonly string[] {
  if (sessions.length === 0) return ['No sessions.']
  return [...sessions.flatMap((session) => [...linesOf(session), '']), `${count(sessions.length, 'session')}.`]
}

function linesOf(session: DescribedSession): string[] {
  const { backend, client, clientVersion, revision, ageSeconds, idleSeconds, targets, calls, errors } = session
  const name = client === '' ? 'a client without a name' : `${client} ${clientVersion}`.trim()
  const whose = session.session === '' ? 'without a session' : `${session.session}  ${name}, ${revision},`
  return [
    `${whose} at ${backend}`,
    `  ${shortDuration(ageSeconds * 1000)} old, ${idleText(idleSeconds, calls)}`,
    ...targets.map(({ target, state, transport, era, revision: version, changedTools }) => {
      const changed = changedTools.length > 0 ? `changed tools ${changedTools.join(' ')}` : undefined
      const how = [state, transport, version, era === 'modern' ? 'without sessions' : undefined, changed]
      return `  target  ${target}: ${how.filter((part) => part !== undefined).join(', ')}`
    }),
    ...calls.map((call) => `  call    ${callText(call)}, for ${shortDuration(call.seconds * 1000)}`),
    ...errors.map(
      (error) => `  error   ${error.time} ${callText(error)}: ${[error.code, error.message].filter(Boolean).join(' ')}`,
    ),
  ]
}
