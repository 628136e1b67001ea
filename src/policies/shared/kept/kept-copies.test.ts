import { expect, test } from 'vitest'
import { SecretSet } from '#base/secret-set.ts'
import type { Credential } from '../clouds/cloud-credential.ts'
import { forgetSecretsOf, noteSecretsOf } from './kept-copies.ts'

const stateOf = <Value>(value: Value | undefined) =>
  ({ id: 'a', value, fetchedMs: 0, failure: undefined, final: true, restMs: 0 }) as const
const noted = (secret: Credential['secret'], text: string) => {
  const secrets = new SecretSet()
  noteSecretsOf({ of: 'credential', state: stateOf<Credential>({ secret, expiresMs: undefined }) }, secrets)
  return secrets.hide(text)
}

test.each<[what: string, secret: Credential['secret'], text: string, shown: string]>([
  ['a token', { token: 'token-of-a' }, 'is token-of-a', 'is <redacted>'],
  [
    'keys',
    { keys: { accessKey: 'access-key', secretKey: 'secret-key', sessionToken: 'session-token' } },
    'access-key secret-key session-token',
    'access-key <redacted> <redacted>',
  ],
  [
    'keys that do not expire',
    { keys: { accessKey: 'access-key', secretKey: 'secret-key', sessionToken: undefined } },
    'access-key secret-key',
    'access-key <redacted>',
  ],
])('no output shows %s', (_, secret, text, shown) => expect(noted(secret, text)).toBe(shown))

test('a credential is one source of secrets, and key sets are none', () => {
  const secrets = new SecretSet()
  const { version } = secrets
  noteSecretsOf({ of: 'credential', state: stateOf<Credential>(undefined) }, secrets)
  noteSecretsOf({ of: 'key-set', state: stateOf('{"keys":[]}') }, secrets)
  forgetSecretsOf('key-set', 'a', secrets)
  expect(secrets.version).toBe(version)
  const credential: Credential = { secret: { token: 'token-of-a' }, expiresMs: undefined }
  noteSecretsOf({ of: 'credential', state: stateOf(credential) }, secrets)
  const noted = secrets.version
  noteSecretsOf({ of: 'credential', state: stateOf(credential) }, secrets)
  expect(secrets.version).toBe(noted)
  forgetSecretsOf('credential', 'a', secrets)
  expect(secrets.version).toBeGreaterThan(noted)
  expect(secrets.hide('token-of-a'), 'a record may have it').toBe('<redacted>')
})
