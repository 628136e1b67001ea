import { expect, test } from 'vitest'
import type { Identity } from '#exchange/exchange.ts'
import type { Trace } from '#exchange/trace.ts'
import { codeOf, contextWith, exchangeWith, sourceOf, specFrom } from '../../shared/testing.ts'
import { auth } from './index.ts'
import { backendAuth } from './schema.ts'

/** What `explain` says about the credential of a request: where it is from and where it is written, never its value. */

const SECRETS = {
  token: { Authorization: 's3cret' },
  aws: { accessKey: 's3cret-key', secretKey: 's3cret', sessionToken: 's3cret-session' },
  azure: { clientID: 's3cret-id', tenantID: 'tenant', clientSecret: 's3cret' },
}
const destination = { hostname: 's.run.app', signing: { service: 'bedrock', region: 'eu-west-3' } }
const jwt = { claims: {}, token: 's3cret' }

const explained: [written: object, note: string, at: readonly string[]][] = [
  [{ key: 's3cret' }, 'sends the key of the policy', ['header authorization']],
  [
    { secretRef: { name: 'token' }, location: { queryParameter: { name: 'key' } } },
    'sends the entry of Secret token',
    ['queryParameter key'],
  ],
  [{ passthrough: {} }, 'sends the validated credential of the client', ['header authorization']],
  [
    { cloudOne: { secretRef: { name: 'aws' } } },
    'signs the request for service bedrock in eu-west-3 with the keys of Secret aws',
    ['header authorization', 'header x-amz-security-token'],
  ],
  [
    { cloudTwo: { secretRef: { name: 'azure' } } },
    'sends the token of Azure for https://cognitiveservices.azure.com/.default from Secret default/azure',
    ['header authorization'],
  ],
  [
    { cloudThree: { type: 'IdToken' } },
    'sends the ID token for https://s.run.app of Google Cloud from the environment of the gateway',
    ['header authorization'],
  ],
]
for (const [written, note, at] of explained) {
  test(note, () => {
    const context = contextWith({ secrets: SECRETS, destination })
    const run = auth.compile([sourceOf(specFrom(backendAuth, written))], context)!
    const exchange = exchangeWith()
    Object.assign(exchange.identity, { jwt } satisfies Partial<Identity>)
    const said: string[] = []
    const places: string[] = []
    exchange.trace = {
      note: (text) => said.push(text),
      credential: (kind, name) => places.push(`${kind} ${name}`),
    } as Partial<Trace> as Trace
    expect(codeOf(run.request!(exchange) ?? run.signature?.sign(exchange))).toBe('proceed')
    expect([said, places]).toEqual([[note], at])
  })
}
