import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEcho } from '#examples/upstreams/echo.ts'
import { freePort } from '../support/free-port.ts'
import { startGateway } from '../support/gateway.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '../support/objects-folder.ts'
import { policyYaml } from '../support/policy-yaml.ts'

/** Checks that a gateway accepts the passwords of a file that Apache's `htpasswd` has written, in every format that it knows. */

/** `htpasswd` options by name of a format. */
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  md5: ['-m'],
  bcrypt: ['-B'],
  'bcrypt-10': ['-B', '-C', '10'],
  sha256: ['-2'],
  'sha256-rounds': ['-2', '-r', '20000'],
  sha512: ['-5'],
  'sha512-rounds': ['-5', '-r', '1000'],
  crypt: ['-d'],
  sha1: ['-s'],
}
/** The last ones have several blocks of a digest, and characters of more than one byte. */
const PASSWORDS = ['p', 'hunter2', 'with space:and colon', 'Grüße, 世界', 'x'.repeat(70), 'y'.repeat(255)]

if (!hasHtpasswd()) {
  console.error('interop: htpasswd is missing; install the Debian package apache2-utils')
  process.exit(2)
}
process.exit(await main())

function hasHtpasswd(): boolean {
  try {
    execFileSync('htpasswd', ['-nb', 'a', 'b'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function writeFileOf(users: readonly (readonly [name: string, format: string, password: string])[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-interop-'))
  const file = join(folder, 'users')
  for (const [i, [name, format, password]] of users.entries()) {
    const options = [...FORMATS[format]!, ...(i === 0 ? ['-c'] : [])]
    execFileSync('htpasswd', ['-b', ...options, file, name, password], { stdio: 'ignore' })
  }
  const text = readFileSync(file, 'utf8')
  rmSync(folder, { recursive: true })
  return text
}

async function main(): Promise<number> {
  const users = Object.keys(FORMATS).flatMap((format) =>
    PASSWORDS.map((password, i) => [`${format}.${i}`, format, password] as const),
  )
  await using stops = new AsyncDisposableStack()
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const port = await freePort()
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'staff' },
    stringData: { '.htaccess': writeFileOf(users) },
  }
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('echo', echo.port),
      routeYaml('all', '/', 'echo'),
      policyYaml('all', 'HTTPRoute', 'all', { traffic: { basicAuthentication: { secretRef: { name: 'staff' } } } }),
      `\n${JSON.stringify(secret)}\n`,
    ),
  })
  stops.defer(folder.remove)
  stops.use(await startGateway({ files: [folder.path], workers: 1 }))
  let failures = 0
  for (const format of Object.keys(FORMATS)) {
    const wrong: string[] = []
    for (const [name, , password] of users.filter(([, of]) => of === format)) {
      const right = await statusOf(port, name, password)
      const other = await statusOf(port, name, `~${password}`)
      if (right !== 200 || other !== 401) wrong.push(`${name}: ${right} with the password, ${other} with another`)
    }
    console.log(`${wrong.length === 0 ? 'ok  ' : 'FAIL'} ${format} (${FORMATS[format]!.join(' ')})`)
    for (const line of wrong) console.log(`     ${line}`)
    failures += wrong.length
  }
  return failures === 0 ? 0 : 1
}

async function statusOf(port: number, name: string, password: string): Promise<number> {
  const credential = Buffer.from(`${name}:${password}`).toString('base64')
  const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { authorization: `Basic ${credential}` } })
  await response.arrayBuffer()
  return response.status
}
