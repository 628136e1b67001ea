import type { JsonObject } from '#base/json.ts'
import { parseJson } from '#base/parse-json.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { type Outcome, reject } from '#exchange/outcome.ts'
import { afterwards } from '#exchange/step.ts'
import { type AuthorizationServer, Unavailable } from './authorization-server.ts'
import { answerJson, corsFields } from './json-answer.ts'
import { omitIssuer } from './omit-issuer.ts'
import type { SignInPlan } from './sign-in-plan.ts'
import { unavailable } from './unavailable.ts'

/** Of a registration. */
const MAX_BYTES = 64 * 1024

/** Registers a client at the identity provider, or answers with the configured client id (specification 1, 5.3). */
export function registerClient(plan: SignInPlan, exchange: Exchange): Outcome | Promise<Outcome> {
  if (exchange.requestBody.kind !== 'unread') return register(plan, exchange)
  return exchange.bodies.request.read(MAX_BYTES, true).then((unread) => unread ?? register(plan, exchange))
}

function register(plan: SignInPlan, exchange: Exchange): Outcome | Promise<Outcome> {
  const body = exchange.requestBody.whole
  if (body === undefined || body.length > MAX_BYTES) return tooLarge()
  const { clientId, server } = plan
  if (clientId !== undefined) return answerJson('registration', 201, JSON.stringify(registrationOf(clientId, body)))
  const path = fixedPath(plan)
  if (path !== undefined) return forward(plan, path, body, exchange)
  return server.withMetadata(exchange, (found) => {
    if (found instanceof Unavailable) return unavailable('registration', found)
    const endpoint = ownPath(found.registration_endpoint, server.address!.url)
    if (endpoint === undefined) return unavailable('registration', NOT_OFFERED)
    return forward(plan, endpoint, body, exchange)
  })
}

const NOT_OFFERED = new Unavailable('the metadata of the issuer names no registration_endpoint at its own origin')

function tooLarge(): Outcome {
  const limit = `the limit is ${MAX_BYTES} bytes`
  return reject('body-too-large', { detail: limit, limit, headers: corsFields('registration') })
}

/** A public client: it has the id, and no secret (RFC 7591, 3.2.1). A body that cannot be read registers no redirects. */
function registrationOf(clientId: string, body: Uint8Array): JsonObject {
  return {
    client_id: clientId,
    client_id_issued_at: 0,
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code'],
    response_types: ['code'],
    redirect_uris: redirectsIn(body),
  }
}

function redirectsIn(body: Uint8Array): readonly string[] {
  try {
    const { redirect_uris: redirects } = parseJson(new TextDecoder().decode(body)) as { redirect_uris: unknown[] }
    return redirects.filter((each) => typeof each === 'string')
  } catch {
    return []
  }
}

/** Where these products register clients. Their metadata need not be asked. */
function fixedPath({ provider, server }: SignInPlan): string | undefined {
  if (server.address === undefined) return undefined
  const { pathname } = server.address.url
  if (provider === 'IdpTwo') return `${registrationsOf(pathname)}/openid-connect`
  return provider === 'IdpThree' ? '/oauth2/v1/clients' : undefined
}

/** Of IdpTwo: below it is each form of registrations. */
function registrationsOf(issuerPath: string): string {
  return `${issuerPath.replace(/\/$/, '')}/clients-registrations`
}

/** The path of an address at the origin of the issuer. No other server gets registrations, whatever the metadata says. */
function ownPath(endpoint: string | undefined, { origin }: URL): string | undefined {
  const url = URL.parse(endpoint ?? '')
  return url?.origin === origin ? url.pathname + url.search : undefined
}

function forward(plan: SignInPlan, path: string, body: Uint8Array, exchange: Exchange): Outcome | Promise<Outcome> {
  const { server } = plan
  const { call, signal } = exchange.context
  const headers = [
    ['content-type', 'application/json'],
    ['accept', 'application/json'],
  ] as const
  const sent = server.send(call, { method: 'POST', path, headers, body }, signal)
  return afterwards(exchange, sent, (answer) => {
    if (answer instanceof Unavailable) return unavailable('registration', answer)
    const { status } = answer.response
    const isRegistered = status >= 200 && status <= 299
    const isFinal = isRegistered || (status >= 400 && status <= 499)
    if (isFinal && isJson(answer.text)) {
      return isRegistered && plan.provider === 'IdpTwo'
        ? answerChanged(server, status, answer.text, exchange)
        : answerJson('registration', status, answer.text)
    }
    const why = isFinal ? 'with something that is not JSON' : String(status)
    return unavailable(
      'registration',
      new Unavailable(`POST ${path} of ${server.address!.destination}: the server answered ${why}`),
    )
  })
}

/** Most clients need the change, but not all: a client that cannot be changed is registered all the same, and the log says so. */
function answerChanged(
  server: AuthorizationServer,
  status: number,
  registered: string,
  exchange: Exchange,
): Promise<Outcome> {
  const path = `${registrationsOf(server.address!.url.pathname)}/default`
  return afterwards(exchange, omitIssuer(server, registered, path, exchange.context), (changed) => {
    if (typeof changed === 'string') return answerJson('registration', status, changed)
    exchange.refusalDetail = `authorization responses of the client may name the identity provider as issuer, not the gateway: ${changed.why}`
    return answerJson('registration', status, registered)
  })
}

function isJson(text: string): boolean {
  try {
    parseJson(text)
    return true
  } catch {
    return false
  }
}
