import type { DescribedSession } from '#admin/mcp-sessions.ts'
import { callText, idleText } from '#admin/session-rows.ts'
import { count } from '#base/count.ts'
import { parseJson } from '#base/parse-json.ts'
import { shortDuration } from '#base/short-duration.ts'
import { oneOf } from './environment.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { print, printJson } from './output.ts'
import { askAll, tellUnanswered } from './reach/ask-admin.ts'
import { type ReachFlags, reach } from './reach/reach.ts'

export interface SessionsFlags extends ReachFlags {
  readonly backend?: string
  readonly output?: string
}

/** A session, and the pod that has it if there are several. */
type PlacedSession = DescribedSession & { readonly pod?: string }

/** Prints the sessions of MCP clients of a running gateway. */
export async function mcpSessions(
  gateway: string | undefined,
  { backend, output, ...flags }: SessionsFlags,
): Promise<ExitCode> {
  const isJson = oneOf(['text', 'json'], ['--output', output]) === 'json'
  using reached = await reach(gateway, flags)
  const { answers, exitCode } = await askAll(await reached.servers(), '/mcp_sessions', { parameters: { backend } })
  if (answers.length === 0) return exitCode
  const sessions = answers.flatMap(({ server: { pod }, text }): readonly PlacedSession[] => {
    const found = parseJson(text) as readonly DescribedSession[]
    return pod === undefined ? found : found.map((session) => ({ pod, ...session }))
  })
  if (isJson) printJson(sessions)
  else for (const line of sessionLines(sessions)) print(line)
  const codes = [exitCode, ...answers.map((answer) => tellUnanswered(answer, 'the sessions'))]
  return codes.find((code) => code !== EXIT.ok) ?? EXIT.ok
}

/** For people: a paragraph for each session. */
function sessionLines(sessions: readonly PlacedSession[]): readonly string[] {
  if (sessions.length === 0) return ['No sessions.']
  return [...sessions.flatMap((session) => [...linesOf(session), '']), `${count(sessions.length, 'session')}.`]
}

function linesOf(session: PlacedSession): string[] {
  const { backend, client, clientVersion, revision, ageSeconds, idleSeconds, targets, calls, errors } = session
  const name = client === '' ? 'a client without a name' : `${client} ${clientVersion}`.trim()
  const whose = session.session === '' ? 'without a session' : `${session.session}  ${name}, ${revision},`
  return [
    `${whose} at ${backend}${session.pod === undefined ? '' : ` in pod ${session.pod}`}`,
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
