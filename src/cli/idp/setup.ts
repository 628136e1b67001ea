import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import ipaddr from 'ipaddr.js'
import { dryRun, type ShownCall, shownLines } from '#idp/setup/dry-run.ts'
import { callsTo } from '#idp/setup/idp-call.ts'
import type { IdpUser } from '#idp/setup/idp-user.ts'
import { type ReadyTarget, readyObjects, tokenCommands } from '#idp/setup/ready-objects.ts'
import { type SetupOptions, type SetupResult, setUp } from '#idp/setup/set-up.ts'
import type { Outcome, Report } from '#idp/setup/setup-context.ts'
import { STEPS, type Step, StepFailure } from '#idp/setup/step-failure.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { outputIn, secretIn } from '../option-values.ts'
import { complain, print, printJson } from '../output.ts'
import { UsageError } from '../usage-error.ts'
import { ADMIN_PASSWORD_VARIABLE } from './admin-password.ts'

export interface SetupFlags {
  readonly url: string
  readonly realm: string
  readonly clientId: string
  readonly adminUsername: string
  readonly adminPassword?: string
  readonly user?: readonly string[]
  readonly target: string
  readonly write?: string
  readonly dryRun?: boolean
  readonly yes?: boolean
  readonly output?: string
}

interface ReportedStep {
  readonly step: Step
  readonly title: string
  readonly outcome: Outcome
  readonly detail?: string
}

/** Sets an identity provider up, step by step (document 1, 5.8). */
export async function setupProvider(flags: SetupFlags, environment: NodeJS.ProcessEnv): Promise<ExitCode> {
  const options = optionsIn(flags, environment)
  const target = targetIn(flags.target)
  const isJson = outputIn(flags) === 'json'
  const steps: ReportedStep[] = []
  const report: Report = (step, outcome, detail) => {
    steps.push({ step, title: STEPS[step], outcome, ...(detail === undefined ? {} : { detail }) })
    if (!isJson) print(stepLine(steps.at(-1)!))
  }
  const isDry = flags.dryRun === true
  if (!isJson && !isDry) print('Any redirect URI and any client will be allowed in the realm: for tests only.')
  const calls: ShownCall[] = []
  const show = (call: ShownCall) => {
    calls.push(call)
    if (!isJson) for (const line of shownLines(call)) print(line)
  }
  const send = isDry ? dryRun(options, show) : callsTo(options.url)
  try {
    const result = await setUp(options, send, report)
    if (isDry) {
      if (isJson) printJson({ ok: true, steps, calls })
      return EXIT.ok
    }
    const objects = readyObjects(result, target, options.url)
    const problem = flags.write === undefined ? undefined : problemOfWriting(flags.write, objects)
    const written = problem === undefined ? flags.write : undefined
    if (isJson) printJson({ ok: problem === undefined, steps, ...values(result), objects })
    else for (const line of resultLines(result, objects, written)) print(line)
    // What was printed is not printed again: passwords that were generated must not be lost.
    if (problem !== undefined) throw new UsageError(problem)
    return EXIT.ok
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error
    const { step, method, path, answer, advice } = error
    const asked = `${method} ${options.url.origin}${path}`
    const created = error.createdUsers.filter(({ isPasswordGenerated }) => isPasswordGenerated)
    report(step, 'failed', answer)
    const failure = { step, asked, answer, advice }
    if (isJson) printJson({ ok: false, steps, users: created.map(userValues), failure })
    else {
      for (const user of created) print(userLine(user))
      complain(`step ${step}, ${asked}: ${answer}`, `  ${advice}`)
    }
    return EXIT.findings
  }
}

function stepLine({ step, title, outcome, detail }: ReportedStep): string {
  return `${String(step).padStart(2)}  ${title.padEnd(29)} ${outcome}${detail === undefined ? '' : `: ${detail}`}`
}

function values({ issuer, jwksPath, audiences, client, users }: SetupResult) {
  const { uuid, clientId, secret } = client
  return { issuer, jwksPath, audiences, client: { uuid, clientId, secret }, users: users.map(userValues) }
}

function userValues({ username, password, group }: IdpUser) {
  return { username, password, group }
}

function userLine({ username, password, group }: IdpUser): string {
  return `user           ${username}, password ${password}, group ${group}`
}

/** @param written the file that has the objects */
function resultLines(result: SetupResult, objects: string, written: string | undefined): readonly string[] {
  const { issuer, jwksPath, client, users } = result
  return [
    '',
    `issuer         ${issuer}`,
    `jwksPath       ${jwksPath}`,
    `client_id      ${client.clientId} (in paths of the admin API: ${client.uuid})`,
    `client_secret  ${client.secret}`,
    ...users.map(userLine),
    '',
    ...(written === undefined
      ? objects.trimEnd().split('\n')
      : [`The objects that require its tokens are in ${written}`]),
    '',
    users.length === 0 ? 'Get a token of the client itself, and use it:' : 'Get a token, and use it:',
    '',
    ...tokenCommands(result, 'http://localhost:8080/'),
  ]
}

/** A file that has other text is not replaced. @returns why the objects are not in the file */
function problemOfWriting(file: string, text: string): string | undefined {
  try {
    if (existsSync(file)) {
      return readFileSync(file, 'utf8') === text ? undefined : `--write ${file}: the file exists and is different`
    }
    writeFileSync(file, text, { flag: 'wx' })
    return undefined
  } catch (error) {
    return `--write ${file}: ${(error as Error).message}`
  }
}

function optionsIn(flags: SetupFlags, environment: NodeJS.ProcessEnv): SetupOptions {
  const url = URL.parse(flags.url)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new UsageError(`--url ${flags.url} is not a URL with scheme http or https`)
  }
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    throw new UsageError(`--url ${flags.url} must have no path and no query: the root of the provider is meant`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError('--url must have no user and no password: see --admin-username and --admin-password')
  }
  if (flags.yes !== true && flags.dryRun !== true && !isOwnNetwork(url.hostname)) {
    const risk = 'the setup allows any redirect URI and any client, for tests only'
    throw new UsageError(`${url.hostname} is neither on this machine nor in a private network, and ${risk}: add --yes`)
  }
  const password = secretIn('--admin-password', flags.adminPassword) ?? environment[ADMIN_PASSWORD_VARIABLE]
  if (password === undefined && flags.dryRun !== true) {
    throw new UsageError(`the password of the administrator is needed: --admin-password or ${ADMIN_PASSWORD_VARIABLE}`)
  }
  if (/^\.*$/.test(flags.realm)) throw new UsageError(`--realm "${flags.realm}" is not a name of a realm`)
  if (flags.clientId === '') throw new UsageError('--client-id is empty')
  const admin = { username: flags.adminUsername, password: password ?? '' }
  return { url, realm: flags.realm, clientId: flags.clientId, admin, users: usersIn(flags.user) }
}

/** Addresses that the Internet does not route (decision A-130). */
const OWN_RANGES: readonly string[] = ['loopback', 'private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat']

function isOwnNetwork(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (host === 'localhost' || host.endsWith('.localhost')) return true
  return ipaddr.isValid(host) && OWN_RANGES.includes(ipaddr.process(host).range())
}

/** The two users of the procedure, with passwords that nobody knows. */
function defaultUsers(): readonly IdpUser[] {
  return [
    ['alice', 'engineering'],
    ['bob', 'sales'],
  ].map(([username = '', group = '']) => {
    return { username, group, password: randomBytes(12).toString('base64url'), isPasswordGenerated: true }
  })
}

function usersIn(texts: readonly string[] | undefined): readonly IdpUser[] {
  if (texts === undefined) return defaultUsers()
  const users = texts.map(userIn)
  const names = users.map(({ username }) => username)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw new UsageError(`--user ${twice} is there twice`)
  return users
}

function userIn(text: string): IdpUser {
  const [username = '', ...rest] = text.split(':')
  const group = rest.pop() ?? ''
  const password = rest.join(':')
  if (username === '' || password === '' || group === '') {
    throw new UsageError(`--user must be name:password:group, not "${username}:..."`)
  }
  return { username: username.toLowerCase(), password, group, isPasswordGenerated: false }
}

function targetIn(text: string): ReadyTarget {
  const [, kind, name] = /^(Gateway|HTTPRoute|GRPCRoute)\/([a-z0-9]([-.a-z0-9]*[a-z0-9])?)$/.exec(text) ?? []
  if (kind !== undefined && name !== undefined) return { kind, name }
  throw new UsageError(`--target must be a kind and a name, such as HTTPRoute/shop, not ${text}`)
}
