import { EXIT, type ExitCode } from '../exit-code.ts'
import { outputIn, secretIn } from '../option-values.ts'
import { complain, print, printJson } from '../output.ts'
import { UsageError } from '../usage-error.ts'
import { bearerChallenge } from './challenge.ts'
import { discover, probe } from './discover.ts'
import { claimsOf, examineToken } from './examine-token.ts'
import { listTools } from './list-tools.ts'
import { obtainToken, type TokenWish } from './obtain-token.ts'
import { Report, reportLines } from './report.ts'
import { isHttp } from './web.ts'

export interface DoctorFlags {
  readonly token?: string
  readonly clientId?: string
  readonly clientSecret?: string
  readonly scope?: string
  readonly redirectPort?: string
  readonly timeout?: string
  readonly output?: string
}

/** Walks the sign-in of a client of MCP, and says which step fails and what to change. */
export async function doctor(address: string, flags: DoctorFlags): Promise<ExitCode> {
  const url = URL.parse(address)
  if (url === null || !isHttp(url)) {
    throw new UsageError(`${address} is not a URL with scheme http or https`)
  }
  const isJson = outputIn(flags) === 'json'
  const invite = (where: string) => {
    const lines = ['Open this address in a browser, and sign in:', '', `  ${where}`, '']
    for (const line of lines) (isJson ? complain : print)(line)
  }
  const report = new Report()
  await walk(report, url, secretIn('--token', flags.token), wishOf(flags, invite))
  if (isJson) printJson({ url: url.href, ok: !report.failed, steps: report.steps })
  else for (const line of reportLines(report)) print(line)
  return report.failed ? EXIT.findings : EXIT.ok
}

/** @param given a token that the user has already */
async function walk(report: Report, url: URL, given: string | undefined, wish: TokenWish): Promise<void> {
  report.hide(given)
  const refused = await probe(report, url)
  if (refused === undefined) return
  if (refused === 'open' && given === undefined) return listTools(report, url, undefined)
  const challenge = refused === 'open' ? null : refused.headers.get('www-authenticate')
  if (given !== undefined && claimsOf(given) === undefined && !leadsToSignIn(challenge)) {
    for (const step of SIGN_IN) report.skip(step, 'a key is given, and the server offers no sign-in')
    return listTools(report, url, given)
  }
  const discovered = refused === 'open' ? undefined : await discover(report, url, refused)
  if (given !== undefined) {
    report.skip('registration', 'a token is given')
    report.skip('redirect', 'a token is given')
    report.skip('token', 'a token is given')
  } else if (discovered === undefined) return
  const token = given ?? (await obtainToken(report, discovered!, wish))
  if (token === undefined) return
  examineToken(report, token, discovered?.resource)
  await listTools(report, url, token)
}

/** The steps that a client takes to get a token. */
const SIGN_IN = ['challenge', 'resource', 'server', 'pkce', 'registration', 'redirect', 'token', 'audience'] as const

function leadsToSignIn(challenge: string | null): boolean {
  return bearerChallenge(challenge)?.has('resource_metadata') === true
}

function wishOf(
  { clientId, clientSecret, scope, redirectPort, timeout }: DoctorFlags,
  invite: TokenWish['invite'],
): TokenWish {
  if (clientSecret !== undefined && clientId === undefined) throw new UsageError('--client-secret requires --client-id')
  return {
    clientId,
    clientSecret: secretIn('--client-secret', clientSecret),
    scope,
    redirectPort: numberIn('--redirect-port', redirectPort ?? '0', 65_535),
    timeoutMs: numberIn('--timeout', timeout ?? '300', 86_400) * 1000,
    invite,
  }
}

function numberIn(option: string, text: string, max: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (!(number <= max)) throw new UsageError(`${option} is a number up to ${max}, not ${text}`)
  return number
}
