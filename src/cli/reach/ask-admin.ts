import { ADMIN, SERVER_FIELD } from '#admin/server-field.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { complain } from '../output.ts'
import { UsageError } from '../usage-error.ts'
import { type AdminServer, Unanswered } from './admin-server.ts'

/** Time limit of an answer, and of the head of a stream. */
const TIMEOUT_MS = 10_000

/** Response header that names the workers whose part of the answer is missing. */
const UNANSWERED = 'gatewright-unanswered-workers'

/** A failure was told. */
export interface Failed {
  readonly exitCode: ExitCode
}

/** An answer of an admin server. */
export interface AdminAnswer {
  readonly server: AdminServer
  readonly text: string
  readonly headers: Headers
}

type Parameters = Readonly<Record<string, string | undefined>>

/** What a command asks, and how. */
export interface Question {
  readonly parameters?: Parameters
  readonly timeoutMs?: number
  /** Gets the text of a failure; the default prints it. */
  readonly tell?: (failure: string) => void
}

/**
 * Asks the admin server of a running gateway. Tells why it cannot.
 * @throws UsageError if the server refuses a parameter
 */
export async function askAdmin(
  server: AdminServer,
  path: string,
  { parameters = {}, timeoutMs = TIMEOUT_MS, tell = complain }: Question = {},
): Promise<AdminAnswer | Failed> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), timeoutMs)
  try {
    const response = await send(server, path, { parameters, tell }, late.signal)
    if ('exitCode' in response) return response
    const text = await response.text().catch(() => undefined)
    if (text !== undefined) return { server, text, headers: response.headers }
    tell(`the answer of ${server.name} broke off`)
    return { exitCode: EXIT.findings }
  } finally {
    clearTimeout(timer)
  }
}

/** Asks several servers at once. @returns the answers there are, in that order, and the worst exit code of the failures */
export async function askAll(
  servers: readonly AdminServer[],
  path: string,
  question: Question = {},
): Promise<{ readonly answers: readonly AdminAnswer[]; readonly exitCode: ExitCode }> {
  const results = await Promise.all(servers.map((server) => askAdmin(server, path, question)))
  return {
    answers: results.flatMap((result) => ('exitCode' in result ? [] : [result])),
    exitCode: results.some((result) => 'exitCode' in result) ? EXIT.findings : EXIT.ok,
  }
}

/** Opens a stream of the admin server of a running gateway, as `askAdmin` asks it. */
export async function openAdminStream(
  server: AdminServer,
  path: string,
  { parameters = {}, tell = complain }: Question,
): Promise<Response | Failed> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), TIMEOUT_MS)
  try {
    return await send(server, path, { parameters, tell }, late.signal)
  } finally {
    clearTimeout(timer)
  }
}

/** @returns a response of an admin server with a status of success */
async function send(
  server: AdminServer,
  path: string,
  { parameters, tell }: Required<Pick<Question, 'parameters' | 'tell'>>,
  signal: AbortSignal,
): Promise<Response | Failed> {
  const given = Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  const query = given.length === 0 ? '' : `?${new URLSearchParams(given)}`
  const response = await server.send(`${path}${query}`, signal).catch((error: unknown) => {
    if (error instanceof Unanswered) return error
    throw error
  })
  if (response instanceof Unanswered) {
    tell(response.message)
    return { exitCode: EXIT.findings }
  }
  if (response.headers.get(SERVER_FIELD) !== ADMIN) {
    tell(`${server.name} is not the admin server of a gateway; ${server.setting} is the address of its admin server`)
    return { exitCode: EXIT.findings }
  }
  if (response.ok) return response
  const text = (await response.text().catch(() => '')).trim()
  // The server names the parameter.
  if (response.status === 400) throw new UsageError(text)
  tell(`${server.name} responded with status ${response.status}: ${text}`)
  return { exitCode: EXIT.findings }
}

/** Tells which workers did not answer. @returns the exit code of a command that has printed the rest */
export function tellUnanswered({ server, headers }: AdminAnswer, what: string): ExitCode {
  const missing = headers.get(UNANSWERED)
  if (missing === null) return EXIT.ok
  const where = server.pod === undefined ? '' : ` of ${server.name}`
  complain(`without ${what} of ${missing}${where}, which did not answer in time`)
  return EXIT.findings
}
