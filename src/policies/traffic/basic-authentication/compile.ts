import { fromByteText, toByteText } from '#base/byte-text.ts'
import { missingKey } from '#base/missing-key.ts'
import { describeOrigin } from '#base/origin.ts'
import { reject } from '#exchange/outcome.ts'
import type { CompileContext, PolicySource, RequestRun } from '../../policy.ts'
import { challengeFor } from '../../shared/authentication/challenge.ts'
import { authorizationHeader, compileLocation, usesOf } from '../../shared/authentication/credential-location.ts'
import { readsRequestBody } from '../../shared/body-use.ts'
import { type BasicPlan, runBasic } from './run.ts'
import type { BasicAuthenticationSpec } from './schema.ts'
import { linesOf, Users } from './users.ts'

type Source = PolicySource<BasicAuthenticationSpec>

/** Users with an invalid line are refused, and the others still work. Without any user all credentials are invalid (decision A-36). */
export function compileBasicAuthentication(sources: readonly Source[], context: CompileContext): RequestRun {
  const plan = planBasic(sources[0]!, context)
  const { location } = plan
  return {
    request: (exchange) => runBasic(plan, exchange),
    readsRequestBody: location.kind === 'expression' && readsRequestBody([location.expression]),
    ...usesOf(location),
  }
}

function planBasic(source: Source, context: CompileContext): BasicPlan {
  const { mode, location: where, realm } = source.spec
  const location = where === undefined ? authorizationHeader('Basic') : compileLocation(source, where, context)
  const { users, missing } = usersOf(source, context)
  const challenge = challengeFor(location, `Basic realm="${quoted(realm)}"`)
  const none = users.isEmpty
    ? { detail: missing ?? `${source.path} of ${describeOrigin(source.origin)} has no usable user` }
    : {}
  return {
    mode,
    location,
    users,
    passwords: context.passwords,
    missing: reject('basic-missing', { ...challenge, ...none }),
    invalid: reject('basic-invalid', { ...challenge, ...none }),
    busy: reject('basic-busy', { detail: 'too many password checks wait' }),
  }
}

/** Content of a quoted-string (RFC 9110, 5.6.4). The schema excludes control characters. */
function quoted(text: string): string {
  return toByteText(text).replace(/["\\]/g, '\\$&')
}

/** Lists by the value that holds them, which applies to many rules. */
const known = new WeakMap<object, Users>()

function usersFrom(holder: object, lines: () => readonly (string | undefined)[]): Users {
  const users = known.get(holder) ?? new Users(lines())
  known.set(holder, users)
  return users
}

/** @returns also why the Secret with the users cannot be used */
function usersOf(
  source: Source,
  context: CompileContext,
): { readonly users: Users; readonly missing?: string | undefined } {
  const { users: lines, secretRef } = source.spec
  if (secretRef === undefined) {
    const users = usersFrom(lines!, () => lines!)
    report(source, context, users, (line) => ({ path: `.users[${line}]`, label: 'the line' }))
    return { users }
  }
  const secret = context.secret(source, secretRef.name)
  const file = secret?.data[ENTRY]
  if (file === undefined) {
    const holder = { kind: 'Secret', namespace: source.origin.namespace, name: secretRef.name } as const
    const missing = missingKey(holder, secret?.data, [ENTRY])
    const message = `${missing}; no user is known`
    context.report(source, '.secretRef', { severity: 'error', code: 'secret-missing', message })
    return { users: new Users([]), missing }
  }
  const users = usersFrom(secret!, () => linesOf(fromByteText(file)))
  const from = secret!.origin.entryFiles?.[ENTRY]
  const label = `Secret ${secretRef.name}, entry ${ENTRY}${from === undefined ? '' : ` (${from})`}`
  report(source, context, users, (line) => ({ path: '.secretRef', label: `${label}, line ${line + 1}` }))
  return { users }
}

const ENTRY = '.htaccess'

function report(
  source: Source,
  context: CompileContext,
  { problems }: Users,
  locate: (line: number) => { readonly path: string; readonly label: string },
): void {
  for (const { line, kind, message } of problems) {
    const { path, label } = locate(line)
    context.report(source, path, {
      severity: kind === 'invalid' ? 'error' : 'warning',
      code: kind === 'invalid' ? 'htpasswd-line-invalid' : 'htpasswd-user-duplicate',
      message: `${label}: ${message}`,
    })
  }
}
