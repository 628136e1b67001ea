import { randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { PortInUse } from '#base/port-in-use.ts'
import { startProvider } from '#idp/provider/http/start-provider.ts'
import { hashPassword } from '#idp/provider/passwords.ts'
import { MASTER, type ProviderFiles, ProviderState, ProviderStateUnusable } from '#idp/provider/provider-state.ts'
import { findUser } from '#idp/provider/realm.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { complain, print } from '../output.ts'
import { Signals } from '../signals.ts'
import { UsageError } from '../usage-error.ts'

export interface ServeFlags {
  readonly address: string
  readonly port: string
  readonly publicUrl?: string
  readonly realm?: readonly string[]
  readonly state: string
}

const ADMIN = 'admin'

/** Serves an identity provider for development and tests until a signal ends it. */
export async function serveProvider(flags: ServeFlags): Promise<ExitCode> {
  const { address: host, realm: realms = [] } = flags
  if (isIP(host) === 0) throw new UsageError(`--address ${host} is not an IP address`)
  const port = portIn(flags.port)
  const publicUrl = publicUrlIn(flags.publicUrl)
  const wrong = realms.find((name) => !/^[\w.-]{1,64}$/.test(name))
  if (wrong !== undefined) throw new UsageError(`--realm ${wrong}: letters, digits, dots, hyphens and underscores`)
  const signals = new Signals()
  try {
    const state = await ProviderState.open(filesIn(flags.state))
    for (const name of realms) if (state.realm(name) === undefined) await state.addRealm(name)
    const password = await createAdmin(state)
    const reportBug = (error: unknown) => complain(`internal error: ${(error as Error).stack ?? error}`)
    const provider = await startProvider({ host, port, publicUrl, state, reportBug })
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
    if (!(error instanceof PortInUse || error instanceof ProviderStateUnusable)) throw error
    complain(error.message)
    return EXIT.findings
  }
}

/** @returns its password; undefined: there is an administrator already */
async function createAdmin(state: ProviderState): Promise<string | undefined> {
  const master = state.realm(MASTER)!
  if (findUser(master, ADMIN) !== undefined) return undefined
  const text = randomBytes(18).toString('base64url')
  const id = randomUUID()
  const fixed = { enabled: true, attributes: {}, hasTemporaryPassword: false, isAdmin: true }
  master.users.set(id, { id, username: ADMIN, ...fixed, password: await hashPassword(text) })
  state.save()
  return text
}

function lines(url: string, realms: readonly string[], password: string | undefined): readonly string[] {
  return [
    'An identity provider for development and tests. Not for production.',
    '',
    `  address    ${url}`,
    `  realms     ${realms.join(', ')}`,
    `  admin      ${ADMIN}, ${password === undefined ? 'with the password of the first start' : `password ${password} (it is not shown again)`}`,
    '',
    `Create a client and two users: gatewright idp setup --url ${url} --realm ${realms.at(-1)} --admin-password ${password ?? '<password>'}`,
    `Sign in in a browser: ${url}/realms/${realms.at(-1)}/account`,
  ]
}

/** Files that only their owner can read. */
function filesIn(folder: string): ProviderFiles {
  return {
    read(name) {
      try {
        return readFileSync(join(folder, name), 'utf8')
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw new ProviderStateUnusable(`the state folder cannot be read: ${(error as Error).message}`)
      }
    },
    write(name, text) {
      const file = join(folder, name)
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        writeFileSync(`${file}.new`, text, { mode: 0o600 })
        renameSync(`${file}.new`, file)
      } catch (error) {
        throw new ProviderStateUnusable(`the state folder cannot be written: ${(error as Error).message}`)
      }
    },
  }
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
