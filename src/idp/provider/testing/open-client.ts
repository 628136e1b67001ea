import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, expect } from 'vitest'
import { clock } from '#base/clock.ts'
import { setUp } from '../../setup/set-up.ts'
import { ADMIN, setupOptions, startTestProvider } from '../testing.ts'

export const REALM = '/realms/shop'
export const OPENID = `${REALM}/protocol/openid-connect`
export const CALLBACK = 'http://127.0.0.1:9/callback'
export const JSON_BODY = { 'content-type': 'application/json' }
/** A grant of tokens by the password of a user. */
export const PASSWORD = { grant_type: 'password', username: 'ann', password: 'ann-password', scope: 'openid' }

/** Of the code flow (RFC 7636). */
const VERIFIER = 'v'.repeat(43)
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url')

export interface Seen {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers of all endpoints
  readonly json: any
  readonly text: string
  readonly headers: Headers
}

const { now } = clock

/** A provider that is set up, until the tests of a file end, and what a client, a browser and an administrator ask of it. */
export async function openClient() {
  const provider = await startTestProvider()
  afterEach(() => {
    clock.now = now
    expect(provider.bugs).toEqual([])
  })
  afterAll(() => provider.close())
  const { client } = await setUp(setupOptions(provider.url), provider.send, () => {})

  async function ask(path: string, options: RequestInit = {}): Promise<Seen> {
    const response = await fetch(new URL(path, provider.url), { redirect: 'manual', ...options })
    const body = await response.text()
    const isJson = body !== '' && response.headers.get('content-type') === 'application/json'
    return {
      status: response.status,
      json: isJson ? JSON.parse(body) : undefined,
      text: body,
      headers: response.headers,
    }
  }

  function form(
    path: string,
    fields: ConstructorParameters<typeof URLSearchParams>[0],
    headers: Record<string, string> = {},
  ): Promise<Seen> {
    return ask(path, { method: 'POST', body: new URLSearchParams(fields), headers })
  }

  const admin = await adminToken(provider)
  const asAdmin = (method: string, path: string, json?: unknown) =>
    ask(path, {
      method,
      headers: { authorization: `Bearer ${admin}`, ...JSON_BODY },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    })
  const token = (fields: Record<string, string>) =>
    form(`${OPENID}/token`, { client_id: client.clientId, client_secret: client.secret, ...fields })

  /** Of the code flow; a change to the empty text leaves the parameter out. */
  function authorizationPath(changes: Record<string, string> = {}): string {
    const query = new URLSearchParams({
      client_id: client.clientId,
      redirect_uri: CALLBACK,
      response_type: 'code',
      scope: 'openid',
      state: 'a&b',
      nonce: 'n',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
      ...changes,
    })
    for (const [name, value] of Object.entries(changes)) if (value === '') query.delete(name)
    return `${OPENID}/auth?${query}`
  }

  /** Sends the form of a sign-in page. */
  const sendForm = (page: Seen, password = 'ann-password', cookie = cookieOf(page)) =>
    form(actionOf(page), { username: 'ann', password }, { cookie })

  /** Signs a user in. @returns the cookie of the browser, and what the client is told */
  async function signIn(path = authorizationPath()) {
    const done = await sendForm(await ask(path))
    return { code: answerOf(done).get('code')!, cookie: cookieOf(done), answer: answerOf(done) }
  }

  const exchange = (code: string, fields: Record<string, string> = {}) =>
    token({
      grant_type: 'authorization_code',
      code,
      redirect_uri: CALLBACK,
      code_verifier: VERIFIER,
      ...fields,
    })
  const refresh = (refreshToken: string) => token({ grant_type: 'refresh_token', refresh_token: refreshToken })

  /** What the provider answers to bytes. */
  async function raw(bytes: string): Promise<string> {
    const socket = connect(Number(provider.url.port), '127.0.0.1')
    socket.write(bytes)
    return text(socket)
  }

  return {
    provider,
    client,
    admin,
    ask,
    form,
    asAdmin,
    token,
    authorizationPath,
    sendForm,
    signIn,
    exchange,
    refresh,
    raw,
  }
}

/** A token of the administrator. */
export async function adminToken({
  send,
}: Pick<Awaited<ReturnType<typeof startTestProvider>>, 'send'>): Promise<string> {
  const { json } = await send({
    method: 'POST',
    path: '/realms/master/protocol/openid-connect/token',
    form: { client_id: 'admin-cli', grant_type: 'password', ...ADMIN },
  })
  return (json as { access_token: string }).access_token
}

/** The cookies that an answer sets. */
export const cookieOf = ({ headers }: Seen): string =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0]!)
    .join('; ')
/** Where the form of a page is sent. */
export const actionOf = ({ text }: Seen) =>
  /action="(?<action>[^"]+)"/.exec(text)!.groups!.action!.replaceAll('&#38;', '&')
/** The parameters with which a browser comes back to the client. */
export const answerOf = ({ headers }: Seen): URLSearchParams => new URL(headers.get('location')!).searchParams
