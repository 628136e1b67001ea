import { randomBytes, randomUUID } from 'node:crypto'
import { isIP } from 'node:net'
import { PortInUse } from '#base/listen.ts'
import { startProvider } from '#idp/provider/http/start-provider.ts'
import { hashPassword } from '#idp/provider/passwords.ts'
import { MASTER, ProviderState, ProviderStateUnusable } from '#idp/provider/provider-state.ts'
import { findUser, isRealmName } from '#idp/provider/realm.ts'
import { PROGRAM } from '#instance/project-file.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { complain, print } from '../output.ts'
import { Signals } from '../signals.ts'
import { UsageError } from '../usage-error.ts'
import { ADMIN_PASSWORD_VARIABLE } from './admin-password.ts'
import { StateFolder } from './state-folder.ts'

export interface ServeFlags {
  readonly address: string
  readonly port: string
  readonly publicUrl?: string
  readonly realm?: readonly string[]
  readonly state: string
}

const ADMIN = 'admin'

/**
 * Serves an identity provider for development and tests until a signal ends it.
 * @param environment may have the password of the administrator whom the first start creates
 */
export async function serveProvider(flags: ServeFlags, environment: NodeJS.ProcessEnv): Promise<ExitCode> {
  const { address: host, realm: realms = [] } = flags
  if (isIP(host) === 0) throw new UsageError(`--address ${host} is not an IP address`)
  const port = portIn(flags.port)
  const publicUrl = publicUrlIn(flags.publicUrl)
  const wrong = realms.find((name) => !isRealmName(name))
  if (wrong !== undefined)
    throw new UsageError(`--realm ${wrong}: letters, digits, dots, hyphens and underscores, and not only dots`)
  const signals = new Signals()
  try {
    const state = await ProviderState.open(new StateFolder(flags.state))
    for (const name of realms) if (state.realm(name) === undefined) await state.addRealm(name)
    const provider = await startProvider({ host, port, publicUrl, state, reportBug })
    // The password is printed only now: it must not be lost when the port is in use.
    const password = await createAdmin(state, environment[ADMIN_PASSWORD_VARIABLE])
    for (const line of lines(
      publicUrl ?? provider.url,
      [...state.realms].map(({ name }) => name),
      password,
    ))
      print(line)
    await signals.stopped
    await provider.close()
    return EXIT.ok
  } catch (error) {
    const isExpected = error instanceof PortInUse || error instanceof ProviderStateUnusable || isListenError(error)
    if (!isExpected) throw error
    complain(error.message)
    return EXIT.findings
  }
}

function reportBug(error: unknown): void {
  if (error instanceof ProviderStateUnusable) complain(error.message)
  else complain('internal error', ...`${(error as Error).stack ?? error}`.split('\n'))
}

/** The address is not one of this machine, or the port needs privileges. */
function isListenError(error: unknown): error is Error {
  return error instanceof Error && (error as NodeJS.ErrnoException).syscall === 'listen'
}

/** @returns the password that it has made; undefined: it was given, or there is an administrator already */
async function createAdmin(state: ProviderState, given = ''): Promise<string | undefined> {
  const master = state.realm(MASTER)!
  if (findUser(master, ADMIN) !== undefined) return undefined
  const text = given === '' ? randomBytes(18).toString('base64url') : given
  const id = randomUUID()
  const fixed = { enabled: true, attributes: {}, hasTemporaryPassword: false, isAdmin: true }
  master.users.set(id, { id, username: ADMIN, ...fixed, password: await hashPassword(text) })
  state.save()
  return given === '' ? text : undefined
}

function lines(url: string, realms: readonly string[], password: string | undefined): readonly string[] {
  return [
    'An identity provider for development and tests. Not for production.',
    '',
    `  address    ${url}`,
    `  realms     ${realms.join(', ')}`,
    `  admin      ${ADMIN}, ${password === undefined ? 'with the password that it has' : `password ${password} (it is not shown again)`}`,
    '',
    `Create a client and two users: ${PROGRAM} idp setup --url ${url} --realm ${realms.at(-1)} --admin-password ${password ?? '<password>'}`,
    `Sign in in a browser: ${url}/realms/${realms.at(-1)}/account`,
  ]
}

function portIn(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw new UsageError(`--port is a number up to 65535, not ${text}`)
}

function publicUrlIn(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = URL.parse(text)
  if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && url.pathname === '/') return url.origin
  throw new UsageError(`--public-url ${text} must be http or https, without a path`)
}
