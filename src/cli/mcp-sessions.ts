import type { DescribedSession } from '#admin/mcp-sessions.ts'
import { callText, idleText } from '#admin/session-rows.ts'
import { count } from '#base/count.ts'
import { parseJson } from '#base/parse-json.ts'
import { shortDuration } from '#base/short-duration.ts'
import { askAdmin, tellUnanswered } from './ask-admin.ts'
import { oneOf } from './environment.ts'
import type { ExitCode } from './exit-code.ts'
import { print, printJson } from './output.ts'

export interface SessionsFlags {
  /** URL of the admin server; the default is that of the environment. */
  readonly admin?: string | undefined
  readonly backend?: string
  readonly output?: string
}

/** Prints the sessions of MCP clients of a running gateway. */
export async function mcpSessions({ admin, backend, output }: SessionsFlags): Promise<ExitCode> {
  const isJson = oneOf(['text', 'json'], ['--output', output]) === 'json'
  const answer = await askAdmin(admin, '/mcp_sessions', { parameters: { backend } })
  if ('exitCode' in answer) return answer.exitCode
  const sessions = parseJson(answer.text) as readonly DescribedSession[]
  if (isJson) printJson(sessions)
  else for (const line of sessionLines(sessions)) print(line)
  return tellUnanswered(answer, 'the sessions')
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
