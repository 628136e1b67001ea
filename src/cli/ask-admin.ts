import { ADMIN, SERVER_FIELD } from '#admin/server-field.ts'
import { ADMIN_ADDRESS } from '#api/own-ports.ts'
import { hostAndPort } from '#api/process-variables.ts'
import { hostPort } from '#base/host-port.ts'
import { readVariable } from './environment.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { complain } from './output.ts'
import { UsageError } from './usage-error.ts'

/** Time limit of an answer, and of the head of a stream. */
const TIMEOUT_MS = 10_000

/** Response header that names the workers whose part of the answer is missing. */
const UNANSWERED = 'gatewright-unanswered-workers'

/** A failure was told. */
export interface Failed {
  readonly exitCode: ExitCode
}

/** An answer of the admin server. */
export interface AdminAnswer {
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
 * @param admin URL of the server; undefined: that of the environment
 * @throws UsageError if it is no URL
 */
export async function askAdmin(
  admin: string | undefined,
  path: string,
  { parameters = {}, timeoutMs = TIMEOUT_MS, tell = complain }: Question = {},
): Promise<AdminAnswer | Failed> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), timeoutMs)
  try {
    const response = await send(admin, path, { parameters, tell }, late.signal)
    if ('exitCode' in response) return response
    const text = await response.text().catch(() => undefined)
    if (text !== undefined) return { text, headers: response.headers }
    tell(`the answer of ${new URL(response.url).origin} broke off`)
    return { exitCode: EXIT.findings }
  } finally {
    clearTimeout(timer)
  }
}

/** Opens a stream of the admin server of a running gateway, as `askAdmin` asks it. */
export async function openAdminStream(
  admin: string | undefined,
  path: string,
  { parameters = {}, tell = complain }: Question,
): Promise<Response | Failed> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), TIMEOUT_MS)
  try {
    return await send(admin, path, { parameters, tell }, late.signal)
  } finally {
    clearTimeout(timer)
  }
}

/** Where the admin server is, and the setting that says so. */
function adminServer(admin: string | undefined): { readonly base: URL; readonly setting: string } {
  const variable = 'GATEWRIGHT_ADMIN_ADDR'
  const address = admin === undefined ? readVariable(process.env, variable) : undefined
  if (address !== undefined) {
    const { host, port } = hostAndPort(address)
    return { base: new URL(`http://${hostPort(host, Number(port))}`), setting: variable }
  }
  const base = URL.parse(admin ?? `http://${ADMIN_ADDRESS}`)
  if (base?.protocol !== 'http:') throw new UsageError(`--admin ${admin} is not a URL with scheme http`)
  return { base, setting: '--admin' }
}

/** @returns a response of an admin server with a status of success */
async function send(
  admin: string | undefined,
  path: string,
  { parameters, tell }: Required<Pick<Question, 'parameters' | 'tell'>>,
  signal: AbortSignal,
): Promise<Response | Failed> {
  const { base, setting } = adminServer(admin)
  const url = new URL(path, base)
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value)
  const response = await fetch(url, { signal, redirect: 'manual' }).catch(() => undefined)
  if (response === undefined) {
    tell(`no gateway responds at ${base.href}; ${setting} is the address of its admin server`)
    return { exitCode: EXIT.findings }
  }
  if (response.headers.get(SERVER_FIELD) !== ADMIN) {
    tell(`${base.href} is not the admin server of a gateway; ${setting} is the address of its admin server`)
    return { exitCode: EXIT.findings }
  }
  if (response.ok) return response
  const text = (await response.text().catch(() => '')).trim()
  // The server names the parameter.
  if (response.status === 400) throw new UsageError(text)
  tell(`${base.href} responded with status ${response.status}: ${text}`)
  return { exitCode: EXIT.findings }
}

/** Tells which workers did not answer. @returns the exit code of a command that has printed the rest */
export function tellUnanswered({ headers }: AdminAnswer, what: string): ExitCode {
  const missing = headers.get(UNANSWERED)
  if (missing === null) return EXIT.ok
  complain(`without ${what} of ${missing}, which did not answer in time`)
  return EXIT.findings
}
