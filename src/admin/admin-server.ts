import { byKey } from '#base/compare-text.ts'
import { type LogLevels, readLogFilter, writeLogFilter } from '#base/log-levels.ts'
import type { GatheredRecords } from '#observe/decision-ring.ts'
import type { GatheredSessions } from '#observe/mcp-session-report.ts'
import type { PlanItem, RouteItem } from '#plan/item.ts'
import { adminPage } from './admin-page.ts'
import { type Answer, jsonAnswer, textAnswer, withoutSecretTexts } from './answer.ts'
import { answerProfile, type ProfileSource } from './answer-profile.ts'
import { describeRecord } from './describe-record.ts'
import type { IndexEntry } from './index-page.ts'
import { isLoopback, refuseOutsiders, refuseWithoutToken } from './loopback.ts'
import { selectSessions } from './mcp-sessions.ts'
import { redactItem } from './redact.ts'
import { FILTER_PARAMETERS, selectDecisions } from './select-decisions.ts'
import { ADMIN } from './server-field.ts'
import { type Endpoint, type RunningServer, startSmallServer } from './small-server.ts'
import type { StatusReport } from './status-report.ts'
import { type FollowDecisions, tailDecisions } from './tail-decisions.ts'
import type { TrafficReport } from './traffic-report.ts'

export interface AdminServerOptions {
  /** Must be a loopback address, because reading needs no authentication. */
  readonly host: string
  readonly port: number
  readonly inherited?: number | undefined
  /** Calls that change something need it. */
  readonly token: string
  readonly version: string
  readonly status: () => StatusReport
  /** The plan in force. */
  readonly dump: () => { readonly version: number; readonly items: Iterable<PlanItem> }
  /** Undefined: a controller serves no requests. */
  readonly requests?: RequestReports | undefined
  readonly logLevels: () => LogLevelSetting
  /** Removes secrets from a text. */
  readonly hide: Hide
  /** Starts the shutdown; called after the response was sent. */
  readonly quit: () => void
  readonly reportBug: (error: unknown) => void
}

/** What a data plane shows of its requests. */
export interface RequestReports {
  /** Requests since the start. */
  readonly traffic: () => TrafficReport
  readonly decisions: () => Promise<GatheredRecords>
  readonly followDecisions: FollowDecisions
  readonly profiles: ProfileSource
  /** Sessions of MCP clients. */
  readonly sessions: () => Promise<GatheredSessions>
}

/** Which messages the application log has. */
export interface LogLevelSetting {
  readonly levels: LogLevels
  changeLevels(levels: LogLevels): void
}

/** The configured address of the admin server is not a loopback address. */
export class NotLoopback extends Error {
  override readonly name = 'NotLoopback'

  constructor(host: string) {
    super(`the admin server has no login and listens on loopback addresses only, not on ${host}`)
  }
}

type Hide = (text: string) => string

type Described = Endpoint & { readonly about: string }

/**
 * Starts the server for operators: status, plan, decision records (decision A-116).
 * @throws PortInUse
 * @throws NotLoopback
 */
export async function startAdminServer(options: AdminServerOptions): Promise<RunningServer> {
  const { host, port, reportBug } = options
  if (!isLoopback(host)) throw new NotLoopback(host)
  const described = describeEndpoints(options)
  const entries = Object.entries(described).map(([path, { method, about }]) => ({ path, method, about }))
  const index: Endpoint = { method: 'GET', answer: () => answerPage(options, entries) }
  return startSmallServer({
    host,
    port,
    inherited: options.inherited,
    purpose: ADMIN,
    variable: 'GATEWRIGHT_ADMIN_ADDR',
    refuse: refuseOutsiders,
    refuseChange: (headers) => refuseWithoutToken(headers, options.token),
    endpoints: { '/': index, ...described },
    reportBug,
  })
}

function describeEndpoints(options: AdminServerOptions): Record<string, Described> {
  const { version, status, dump, requests, logLevels, hide, quit } = options
  const plan: Endpoint = { method: 'GET', answer: () => jsonAnswer(describePlan(dump()), hide) }
  return {
    '/status': {
      method: 'GET',
      about: 'Objects with their statuses, listeners, problems of files, workers, endpoints with their health.',
      answer: () => jsonAnswer(status(), hide),
    },
    '/plan': { ...plan, about: 'The newest plan, without secrets.' },
    '/config_dump': { ...plan, about: 'The same as /plan.' },
    ...(requests && describeRequests(requests, hide)),
    '/log_levels': {
      method: 'GET',
      about:
        'The levels of the application log. POST with the parameter levels, such as info,proxy=debug, and the token of the state folder changes them.',
      answer: () => textAnswer(200, writeLogFilter(logLevels().levels)),
      change: (query) => changeLevels(logLevels(), query),
    },
    '/version': {
      method: 'GET',
      about: 'Version of the gateway and of its runtime.',
      answer: () => answerVersion(version, hide),
    },
    '/quitquitquit': {
      method: 'POST',
      about: 'Stops the gateway after the requests in flight are finished. Needs the token of the state folder.',
      answer() {
        setImmediate(quit)
        return textAnswer(200, 'shutting down')
      },
    },
  }
}

/** Endpoints of a data plane. */
function describeRequests(
  { traffic, decisions, followDecisions, profiles, sessions }: RequestReports,
  hide: Hide,
): Record<string, Described> {
  return {
    '/traffic': {
      method: 'GET',
      about: 'Requests since the start by route and backend: numbers, errors, durations.',
      answer: () => jsonAnswer(traffic(), hide),
    },
    '/decisions': {
      method: 'GET',
      about: `The newest decisions. Parameters: id, limit, since, until, ${FILTER_PARAMETERS.join(', ')}.`,
      answer: async (query) => answerDecisions(await decisions(), query, hide),
    },
    '/decisions/tail': {
      method: 'GET',
      about: `Decisions as they happen, as server-sent events. Parameters: ${FILTER_PARAMETERS.join(', ')}.`,
      answer: (query) => tailDecisions(followDecisions, query, hide),
    },
    '/mcp_sessions': {
      method: 'GET',
      about: 'Sessions of MCP clients: targets, calls in flight, last errors. Parameters: session, backend, limit.',
      answer: async (query) => answerSessions(await sessions(), query, hide),
    },
    '/profile/cpu': {
      method: 'GET',
      about: 'Records where a worker spends its time, as .cpuprofile. Parameters: worker, seconds.',
      answer: (query) => answerProfile('cpu', profiles, query),
    },
    '/profile/heap': {
      method: 'GET',
      about: 'Records what a worker allocates and keeps, as .heapprofile. Parameters: worker, seconds.',
      answer: (query) => answerProfile('heap', profiles, query),
    },
  }
}

/** Until the process ends, or the parameters of a Gateway name other levels. */
function changeLevels(logLevels: LogLevelSetting, query: URLSearchParams): Answer {
  const filter = query.get('levels')
  if (filter === null) return textAnswer(400, 'the parameter levels is missing: info, or info,proxy=debug')
  const { levels, faults } = readLogFilter(filter)
  if (faults.length > 0) return textAnswer(400, faults.map(({ message }) => message).join('; '))
  logLevels.changeLevels(levels)
  return textAnswer(200, writeLogFilter(levels))
}

/** The page shows what the JSON endpoints show, without secrets as they do. */
async function answerPage(
  { requests, dump, status, hide }: AdminServerOptions,
  paths: readonly IndexEntry[],
): Promise<Answer> {
  const gathered = requests && (await Promise.all([requests.decisions(), requests.sessions()]))
  const { items } = dump()
  const shown = {
    status: status(),
    routes: routesOf(items),
    ...(gathered && { decisions: gathered[0], sessions: gathered[1] }),
  }
  return adminPage({ ...withoutSecretTexts(shown, hide), paths })
}

function routesOf(items: Iterable<PlanItem>): RouteItem[] {
  return [...items].filter((item) => item.kind === 'route').toSorted(byKey)
}

function describePlan({ version, items }: ReturnType<AdminServerOptions['dump']>): unknown {
  const sorted = [...items].toSorted(byKey)
  return { version, items: sorted.map(redactItem) }
}

/** Response header that names the workers whose records are missing. */
const UNANSWERED = 'gatewright-unanswered-workers'

function answerDecisions({ records, unanswered }: GatheredRecords, query: URLSearchParams, hide: Hide): Answer {
  const selection = selectDecisions(records, query)
  if (selection.kind === 'refused') return textAnswer(400, selection.message)
  return withUnanswered(jsonAnswer(selection.records.map(describeRecord), hide), unanswered)
}

function answerSessions(gathered: GatheredSessions, query: URLSearchParams, hide: Hide): Answer {
  const selection = selectSessions(gathered, query)
  if (selection.kind === 'refused') return textAnswer(400, selection.message)
  return withUnanswered(jsonAnswer(selection.sessions, hide), gathered.unanswered)
}

function withUnanswered(answer: Answer, unanswered: readonly string[]): Answer {
  return unanswered.length === 0 ? answer : { ...answer, headers: { [UNANSWERED]: unanswered.join(', ') } }
}

function answerVersion(version: string, hide: Hide): Answer {
  return jsonAnswer({ gatewright: version, node: process.versions.node }, hide)
}
