import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The folder of the project that git ignores. */
const FOLDER = join(import.meta.dirname, '..', '..', '.gatewright', 'issuer')
const ISSUER = 'https://issuer.test'
const KEY_ID = 'example-1'
const HOUR = 3600

/**
 * An identity provider in one function: a token for `sub`, good for an hour, signed with the key in `<folder>/key.pem`. Without a key
 * it makes one, and beside it the policy `policy.yaml` that lets a gateway take its tokens.
 */
export async function issueToken(
  claims: { readonly sub: string; readonly role: string },
  folder: string,
): Promise<string> {
  const key = await keyIn(folder)
  const iat = Math.floor(Date.now() / 1000)
  const signed = [
    { alg: 'EdDSA', kid: KEY_ID },
    { iss: ISSUER, aud: 'orders', iat, exp: iat + HOUR, ...claims },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`
}

async function keyIn(folder: string): Promise<KeyObject> {
  const file = join(folder, 'key.pem')
  try {
    return createPrivateKey(await readFile(file))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const { privateKey } = generateKeyPairSync('ed25519')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(file, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600, flag: 'wx' })
  await writeFile(join(folder, 'policy.yaml'), policyFor(createPublicKey(privateKey)))
  return privateKey
}

function policyFor(key: KeyObject): string {
  const keySet = { keys: [{ kid: KEY_ID, use: 'sig', ...key.export({ format: 'jwk' }) }] }
  return `apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata:
  name: tokens
spec:
  targetRefs:
    - { group: gateway.networking.k8s.io, kind: HTTPRoute, name: orders }
  traffic:
    jwtAuthentication:
      providers:
        - issuer: ${ISSUER}
          audiences: [orders]
          jwks:
            inline: '${JSON.stringify(keySet)}'
`
}

if (import.meta.main) {
  const [sub = 'ann', role = 'clerk'] = process.argv.slice(2)
  console.log(await issueToken({ sub, role }, FOLDER))
}
