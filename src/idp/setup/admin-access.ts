import { describeAnswer, memberOf } from './answer-text.ts'
import { CallFailed, type IdpAnswer, type IdpCall, type SendCall } from './idp-call.ts'
import { type Step, StepFailure } from './step-failure.ts'

export interface AdminCredentials {
  readonly username: string
  readonly password: string
}

/** Admin tokens are always of this realm and client. */
const ADMIN_REALM = 'master'
const ADMIN_CLIENT = 'admin-cli'

/** Calls the provider as its administrator. A token that has expired is replaced once for each call. */
export class AdminAccess {
  readonly #send: SendCall
  readonly #credentials: AdminCredentials
  #token: string | undefined

  constructor(send: SendCall, credentials: AdminCredentials) {
    this.#send = send
    this.#credentials = credentials
  }

  /** @throws StepFailure */
  async signIn(): Promise<void> {
    const { username, password } = this.#credentials
    const form = { client_id: ADMIN_CLIENT, username, password, grant_type: 'password' }
    const call: IdpCall = { method: 'POST', path: `/realms/${ADMIN_REALM}/protocol/openid-connect/token`, form }
    const answer = await this.#ask(3, call)
    const token = memberOf(answer.json, 'access_token')
    if (isSuccess(answer) && isToken(token)) {
      this.#token = token
      return
    }
    throw new StepFailure(3, call, describeAnswer(answer), signInAdvice(answer, username))
  }

  /**
   * Calls an endpoint as the administrator.
   * @param expected other statuses than 2xx that are no failure
   * @throws StepFailure
   */
  async call(step: Step, call: IdpCall, expected: readonly number[] = []): Promise<IdpAnswer> {
    let answer = await this.#ask(step, { ...call, token: this.#token! })
    if (answer.status === 401) {
      await this.signIn()
      answer = await this.#ask(step, { ...call, token: this.#token! })
    }
    if (isSuccess(answer) || expected.includes(answer.status)) return answer
    throw new StepFailure(step, call, describeAnswer(answer), callAdvice(answer, this.#credentials.username))
  }

  /** Calls an endpoint without the token of the administrator. @throws StepFailure */
  async ask(step: Step, call: IdpCall): Promise<IdpAnswer> {
    return this.#ask(step, call)
  }

  async #ask(step: Step, call: IdpCall): Promise<IdpAnswer> {
    try {
      return await this.#send(call)
    } catch (error) {
      if (!(error instanceof CallFailed)) throw error
      throw new StepFailure(step, call, error.message, 'check that the provider runs and that --url is its address')
    }
  }
}

export function isSuccess({ status }: IdpAnswer): boolean {
  return status >= 200 && status < 300
}

/** A text that can be sent in a header. */
export function isToken(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)
}

const REDIRECTED = 'redirects are not followed: if the provider is at that address, it must be --url'

function signInAdvice(answer: IdpAnswer, username: string): string {
  if (answer.location !== undefined) return REDIRECTED
  if (describeAnswer(answer).includes('HTTPS required')) {
    return 'the realm master requires HTTPS for public addresses: use https, or a private address of the provider'
  }
  if (answer.status === 404) return 'this is not the root of a Keycloak-compatible provider: check --url'
  if (answer.status === 401 || answer.status === 400) {
    return `check the name (${username}) and the password of the administrator`
  }
  if (isSuccess(answer)) return 'the answer has no token: check that --url is a Keycloak-compatible provider'
  return 'look into the log of the provider'
}

function callAdvice({ status, location }: IdpAnswer, username: string): string {
  if (location !== undefined) return REDIRECTED
  switch (status) {
    case 401:
      return 'the new token of the administrator was refused as well: check the clock of this machine and of the provider'
    case 403:
      return `${username} may not do this: use an administrator of the realm master`
    case 404:
      return 'check --url and --realm'
    default:
      return 'look into the log of the provider'
  }
}
