import { join } from 'node:path'
import type { Echo } from '#examples/upstreams/echo.ts'
import { startKeySetServer } from '../../support/key-set-server.ts'
import { backendYaml, routeYaml } from '../../support/objects-folder.ts'
import { policyYaml } from '../../support/policy-yaml.ts'
import type { Jwk } from '../../support/token-issuer.ts'
import { askProgram, installedJars, installedProgram, installedPythonPackages } from '../counterparts.ts'
import { type Front, proxyBackend, startFront } from '../front.ts'
import type { Transcript } from '../transcript.ts'

const MAKERS = join(import.meta.dirname, 'tokens')

/** Programs that make key sets and tokens, each with a library of its language. */
const LIBRARIES: Readonly<Record<string, () => readonly [program: string, words: readonly string[]]>> = {
  jose: () => [process.execPath, [join(MAKERS, 'make-tokens.ts')]],
  PyJWT: () => {
    const python = installedPythonPackages('python-tokens', 'PyJWT==2.15.1', 'cryptography>=45')
    return [python, [join(MAKERS, 'make_tokens.py')]]
  },
  'nimbus-jose-jwt': () => {
    const jars = installedJars('java-tokens', join(MAKERS, 'pom.xml'))
    return [installedProgram('java', 'default-jdk'), ['-cp', jars, join(MAKERS, 'MakeTokens.java')]]
  },
}

/** What a program is asked for. */
export interface Order {
  readonly keys: readonly KeyOrder[]
  readonly tokens: readonly TokenOrder[]
}

interface KeyOrder {
  readonly kid: string
  readonly alg: string
}

type Claims = Readonly<Record<string, unknown>>

interface TokenOrder {
  readonly name: string
  /** `kid` of the key that signs; null: none does. */
  readonly key: string | null
  readonly alg: string
  /** `kid` of the header. */
  readonly kid: string | null
  readonly claims: Claims
}

/** What a program made. */
export interface Made {
  readonly keySet: { readonly keys: readonly Jwk[] }
  readonly tokens: Readonly<Record<string, string>>
}

const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']
const ISSUER = 'https://id.test/realms/shop'
const SUBJECT = 'Zoë 世界'

function claimsWith(more: Claims): Claims {
  const now = Math.floor(Date.now() / 1000)
  return { iss: ISSUER, aud: ['other', 'shop'], sub: SUBJECT, iat: now, exp: now + 600, ...more }
}

/** Tokens that are accepted, by name. */
function goodTokens(): TokenOrder[] {
  const plain = ALGORITHMS.map((alg) => ({ name: alg, key: alg, alg, kid: alg, claims: claimsWith({}) }))
  const with256 = { key: 'ES256', alg: 'ES256', kid: 'ES256' }
  return [
    ...plain,
    { ...with256, name: 'one audience', claims: claimsWith({ aud: 'shop' }) },
    { ...with256, name: 'nbf in the past', claims: claimsWith({ nbf: Math.floor(Date.now() / 1000) - 60 }) },
    { ...with256, name: 'nested claims', claims: claimsWith({ realm_access: { roles: ['a', 'b'] }, n: 1.5 }) },
  ]
}

/** Tokens that are refused, by what is wrong with them. */
function badTokens(): TokenOrder[] {
  const now = Math.floor(Date.now() / 1000)
  const with256 = { key: 'ES256', alg: 'ES256', kid: 'ES256', claims: claimsWith({}) }
  return [
    { ...with256, name: 'unknown kid', kid: 'nobody' },
    { ...with256, name: 'kid of another key', kid: 'EdDSA' },
    { ...with256, name: 'kid of another algorithm', key: 'RS256', alg: 'RS256', kid: 'PS256' },
    { ...with256, name: 'expired', claims: claimsWith({ exp: now - 300 }) },
    { ...with256, name: 'nbf in the future', claims: claimsWith({ nbf: now + 300 }) },
    { ...with256, name: 'wrong audience', claims: claimsWith({ aud: 'other' }) },
    { ...with256, name: 'wrong issuer', claims: claimsWith({ iss: `${ISSUER}/` }) },
    { ...with256, name: 'alg none', key: null, alg: 'none', kid: null },
    { ...with256, name: 'HS256 with a published secret', key: 'HS256', alg: 'HS256', kid: 'HS256' },
  ]
}

/** Tokens and key sets of libraries in three languages: keys inline, then fetched, then rotated. */
export async function checkTokens(transcript: Transcript, stops: AsyncDisposableStack): Promise<void> {
  for (const [library, prepare] of Object.entries(LIBRARIES)) {
    const [program, words] = prepare()
    const keys: KeyOrder[] = [...ALGORITHMS, 'HS256'].map((alg) => ({ kid: alg, alg }))
    const good = goodTokens()
    const bad = badTokens()
    const made = askProgram(program, words, { keys, tokens: [...good, ...bad] }) as Made
    const later = { name: 'later', key: 'later', alg: 'PS256', kid: 'later', claims: claimsWith({}) }
    const next = askProgram(program, words, { keys: [{ kid: 'later', alg: 'PS256' }], tokens: [later] }) as Made
    const issuer = await startKeySetServer([])
    stops.defer(issuer.close)
    issuer.answer(200, JSON.stringify(made.keySet))
    const front = await startFront(
      stops,
      backendYaml('issuer', issuer.port),
      guardYaml('inline', { inline: JSON.stringify(made.keySet) }),
      guardYaml('remote', { remote: { jwksPath: '/keys', backendRef: proxyBackend('issuer') } }),
    )
    for (const place of ['inline', 'remote']) {
      const seen = (orders: readonly TokenOrder[]) => answersTo(front, place, orders, made.tokens)
      const accepted = Object.fromEntries(good.map(({ name }) => [name, SUBJECT]))
      const refused = Object.fromEntries(bad.map(({ name }) => [name, 401]))
      transcript.check(
        `${library}, ${place} keys: tokens of ${ALGORITHMS.length} algorithms`,
        await seen(good),
        accepted,
      )
      transcript.check(`${library}, ${place} keys: ${bad.length} bad tokens`, await seen(bad), refused)
    }
    // The unknown kid above caused a fetch just now, so this one waits for the next.
    issuer.answer(200, JSON.stringify(next.keySet))
    transcript.check(`${library}: a rotated key`, await untilAccepted(front, next.tokens.later!), SUBJECT)
    transcript.check(`${library}: a key that was taken out`, await answerTo(front, 'remote', made.tokens.ES256!), 401)
  }
}

function guardYaml(name: string, jwks: object): string {
  const traffic = {
    jwtAuthentication: { providers: [{ issuer: ISSUER, audiences: ['shop'], jwks }] },
    transformation: { request: { set: [{ name: 'x-user', value: 'jwt.sub' }] } },
  }
  return `${routeYaml(name, `/${name}`, 'echo')}---${policyYaml(name, 'HTTPRoute', name, { traffic })}`
}

async function answersTo(
  front: Front,
  place: string,
  orders: readonly TokenOrder[],
  tokens: Made['tokens'],
): Promise<Readonly<Record<string, unknown>>> {
  const answers: Record<string, unknown> = {}
  for (const { name } of orders) answers[name] = await answerTo(front, place, tokens[name]!)
  return answers
}

/** The subject that the backend saw, or the status of the refusal. */
async function answerTo(front: Front, place: string, token: string): Promise<unknown> {
  const response = await front.ask(`/${place}`, { headers: { authorization: `Bearer ${token}` } })
  const text = await response.text()
  if (response.status !== 200) return response.status
  return Buffer.from(String((JSON.parse(text) as Echo).headers['x-user']), 'latin1').toString()
}

async function untilAccepted(front: Front, token: string): Promise<unknown> {
  const untilMs = Date.now() + 60_000
  for (;;) {
    const answer = await answerTo(front, 'remote', token)
    if (answer !== 401 || Date.now() > untilMs) return answer
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}
