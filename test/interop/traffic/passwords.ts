import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { routeYaml } from '../../support/objects-folder.ts'
import { policyYaml } from '../../support/policy-yaml.ts'
import { installedProgram } from '../counterparts.ts'
import { type Front, startFront } from '../front.ts'
import type { Transcript } from '../transcript.ts'

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

/** The passwords of files that Apache's `htpasswd` wrote, in every format that it knows. */
export async function checkPasswords(transcript: Transcript, stops: AsyncDisposableStack): Promise<void> {
  const htpasswd = installedProgram('htpasswd', 'apache2-utils')
  const users = Object.keys(FORMATS).flatMap((format) =>
    PASSWORDS.map((password, i) => [`${format}.${i}`, format, password] as const),
  )
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'staff' },
    stringData: { '.htaccess': writtenBy(htpasswd, users) },
  }
  const front = await startFront(
    stops,
    routeYaml('all', '/', 'echo'),
    policyYaml('all', 'HTTPRoute', 'all', { traffic: { basicAuthentication: { secretRef: { name: 'staff' } } } }),
    `\n${JSON.stringify(secret)}\n`,
  )
  for (const format of Object.keys(FORMATS)) {
    const wrong: string[] = []
    for (const [name, , password] of users.filter(([, of]) => of === format)) {
      const right = await statusOf(front, name, password)
      const other = await statusOf(front, name, `~${password}`)
      if (right !== 200 || other !== 401) wrong.push(`${name}: ${right} with the password, ${other} with another`)
    }
    transcript.check(`${format} (${FORMATS[format]!.join(' ')})`, wrong, [])
  }
}

function writtenBy(
  htpasswd: string,
  users: readonly (readonly [name: string, format: string, password: string])[],
): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-interop-'))
  const file = join(folder, 'users')
  for (const [i, [name, format, password]] of users.entries()) {
    const options = [...FORMATS[format]!, ...(i === 0 ? ['-c'] : [])]
    execFileSync(htpasswd, ['-b', ...options, file, name, password], { stdio: 'ignore' })
  }
  const text = readFileSync(file, 'utf8')
  rmSync(folder, { recursive: true })
  return text
}

async function statusOf(front: Front, name: string, password: string): Promise<number> {
  const credential = Buffer.from(`${name}:${password}`).toString('base64')
  const response = await front.ask('/', { headers: { authorization: `Basic ${credential}` } })
  await response.arrayBuffer()
  return response.status
}
