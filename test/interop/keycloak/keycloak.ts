import { join } from 'node:path'
import { callsTo } from '#idp/setup/idp-call.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { installedArchive, installedProgram, startServer } from '../counterparts.ts'

const VERSION = '26.5.5'
export const ADMIN = { username: 'admin', password: 'admin-password' }

/** A call of the administrator. */
type AdminCall = (method: 'GET' | 'POST' | 'PUT', path: string, json?: unknown) => Promise<unknown>

export interface Keycloak {
  readonly url: URL
  readonly admin: AdminCall
}

/** Starts Keycloak with an empty database in memory. It needs Java 17 or later, and up to two minutes. */
export async function startKeycloak(stops: AsyncDisposableStack): Promise<Keycloak> {
  const folder = join(
    installedArchive('keycloak', `org.keycloak:keycloak-quarkus-dist:${VERSION}:zip`),
    `keycloak-${VERSION}`,
  )
  const port = await freePort()
  const words = ['bin/kc.sh', 'start-dev', '--db=dev-mem', '--http-host=127.0.0.1', `--http-port=${port}`]
  const environment = {
    KC_BOOTSTRAP_ADMIN_USERNAME: ADMIN.username,
    KC_BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password,
    JAVA_HOME: '',
  }
  stops.use(startServer(installedProgram('sh', 'dash'), { words, environment, cwd: folder }))
  const url = new URL(`http://127.0.0.1:${port}`)
  const send = callsTo(url)
  const signIn = async () => {
    const form = { client_id: 'admin-cli', grant_type: 'password', ...ADMIN }
    const { json } = await send({ method: 'POST', path: '/realms/master/protocol/openid-connect/token', form })
    return (json as { access_token: string }).access_token
  }
  await eventually('Keycloak answers', signIn, 300_000)
  const admin: AdminCall = async (method, path, json) => {
    const { status, json: answer } = await send({ method, path, token: await signIn(), json })
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`)
    return answer
  }
  return { url, admin }
}
