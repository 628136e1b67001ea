import { clock } from '#base/clock.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { McpFacts } from '#exchange/mcp-facts.ts'
import {
  MAX_SESSION_ERRORS,
  type McpCallReport,
  type McpErrorReport,
  type McpSessionReport,
  type McpTargetReport,
  shortSession,
} from '#observe/mcp-session-report.ts'
import type { SharedTable } from '#state/shared-table.ts'
import type { McpPlan, McpTargetPlan } from '../config/mcp-plan.ts'
import { LATEST_SESSIONLESS } from '../message/protocol-version.ts'
import type { KnownTools } from '../tools/known-tools.ts'
import { changedDigest } from '../tools/tool-pins.ts'
import { isOver, renewedTarget, type Session } from './session-state.ts'

/** Sessions that a worker reports. */
const MAX_SESSIONS = 10_000

/** Texts of clients and targets are cut, in characters. */
const MAX_TEXT = 200

/** Tools of a target that are shown. */
const MAX_CHANGED = 20

/** How long errors of requests without a session are shown after the last one. */
const SHOWN_MS = 30 * 60 * 1000

/** What this worker has seen of sessions, for operators: it decides nothing. The sessions that were used last are kept. */
export class SessionActivities {
  /** By key of the session; the last used one is the last. */
  readonly #activities = new Map<string, SessionActivity>()
  #lastUsed: SessionActivity | undefined

  /**
   * A request has begun; it is reported until the exchange ends.
   * @param session `NO_SESSION`: it is reported with all others that have none at the backend
   * @param id of the session; '': it has none
   */
  begin({ exchange, deps, plan }: SessionRequest, session: Session, id: string): void {
    const { mcp } = exchange
    if (mcp === undefined) return
    const key = session.key === '' ? plan.backend : session.key
    const known = this.#activities.get(key)
    const activity = known ?? new SessionActivity(session, id)
    if (known === undefined || known !== this.#lastUsed) {
      if (known !== undefined) this.#activities.delete(key)
      else if (this.#activities.size >= MAX_SESSIONS) this.#activities.delete(this.#activities.keys().next().value!)
      this.#activities.set(key, activity)
      this.#lastUsed = activity
    }
    // Otherwise the one that the initialisation made would be kept beside the one that later requests open.
    activity.session = session
    activity.backend = plan.backend
    activity.targets = plan.targets
    activity.usedMs = clock.now()
    if (activity.digest !== '') mcp.sessionDigest = activity.digest
    const call = activity.addCall(mcp, exchange.request.method)
    deps.whenOver(() => activity.end(call, exchange))
  }

  /** @param table of the worker: it knows the sessions that have ended */
  report(table: SharedTable, nowMs: number, tools: KnownTools): McpSessionReport[] {
    const reports: McpSessionReport[] = []
    const changed = new Map<McpTargetPlan, readonly string[]>()
    const changedOf = (target: McpTargetPlan) => {
      const found = changed.get(target) ?? changedTools(table, target, tools)
      changed.set(target, found)
      return found
    }
    for (const [key, activity] of this.#activities) {
      if (activity.isOver(table, nowMs)) this.#activities.delete(key)
      else reports.push(activity.report(table, changedOf))
    }
    return reports
  }
}

/** The part of a request of the client that is reported. */
interface SessionRequest {
  readonly plan: Pick<McpPlan, 'backend' | 'targets'>
  readonly exchange: Exchange
  readonly deps: { readonly whenOver: (over: () => void) => void }
}

/** In a list of its session: adding and removing it costs the same however many there are. */
interface Call {
  /** What is known so far. */
  readonly mcp: McpFacts
  readonly httpMethod: string
  readonly sinceMs: number
  older: Call | undefined
  newer: Call | undefined
}

class SessionActivity {
  session: Session
  readonly digest: string
  backend = ''
  targets: readonly McpTargetPlan[] = []
  usedMs = 0
  readonly #firstMs = clock.now()
  #oldest: Call | undefined
  #newest: Call | undefined
  /** Newest first. */
  #errors: McpErrorReport[] | undefined

  constructor(session: Session, id: string) {
    this.session = session
    this.digest = id === '' ? '' : shortSession(id)
  }

  isOver(table: SharedTable, nowMs: number): boolean {
    if (this.digest !== '') return isOver(this.session, table, nowMs)
    return this.#oldest === undefined && nowMs - this.usedMs > SHOWN_MS
  }

  addCall(mcp: McpFacts, httpMethod: string): Call {
    const call: Call = { mcp, httpMethod, sinceMs: this.usedMs, older: this.#newest, newer: undefined }
    if (this.#newest === undefined) this.#oldest = call
    else this.#newest.newer = call
    this.#newest = call
    return call
  }

  end(call: Call, { refusal, refusalDetail }: Exchange): void {
    this.usedMs = clock.now()
    const { older, newer } = call
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    const { errorCode, errorMessage, toleratedFailures } = call.mcp
    const message = refusalDetail ?? errorMessage ?? toleratedFailures?.join(', ')
    if (refusal === undefined && errorCode === undefined && message === undefined) return
    const code = refusal ?? (errorCode === undefined ? '' : `${errorCode}`)
    const { sinceMs: _, ...of } = describeCall(call)
    this.#errors ??= []
    this.#errors.unshift({ ...of, timeMs: this.usedMs, code, message: cut(message ?? '') })
    if (this.#errors.length > MAX_SESSION_ERRORS) this.#errors.pop()
  }

  report(table: SharedTable, changedOf: (target: McpTargetPlan) => readonly string[]): McpSessionReport {
    const { session, backend, usedMs, targets } = this
    const calls: McpCallReport[] = []
    for (let call = this.#oldest; call !== undefined; call = call.newer) calls.push(describeCall(call))
    const shown = this.digest === '' ? [] : targets
    const { name, version } = session.client.clientInfo
    return {
      session: this.digest,
      backend,
      client: textOf(name),
      clientVersion: textOf(version),
      revision: session.client.protocolVersion,
      createdMs: this.digest === '' ? this.#firstMs : session.createdMs,
      usedMs,
      targets: shown.map((target) => ({ ...describeTarget(session, target, table), changedTools: changedOf(target) })),
      calls,
      errors: this.#errors ?? [],
    }
  }
}

function describeCall({ mcp, httpMethod, sinceMs }: Call): McpCallReport {
  const { method = httpMethod, target, name } = mcp
  return { method: cut(method), target, item: name === undefined ? undefined : cut(name), sinceMs }
}

function changedTools(table: SharedTable, target: McpTargetPlan, tools: KnownTools): readonly string[] {
  const changed: string[] = []
  for (const name of tools.namesOf(target.destination)) {
    const digest = changedDigest(table, target, name)
    if (digest !== undefined && changed.push(`${cut(name)}=${digest}`) === MAX_CHANGED) break
  }
  return changed
}

function describeTarget(
  session: Session,
  { name, protocol }: McpTargetPlan,
  table: SharedTable,
): Omit<McpTargetReport, 'changedTools'> {
  const renewed = renewedTarget(session, name, table)
  const now = renewed ?? session.targets.find(({ target }) => target === name)
  return {
    target: name,
    state: renewed !== undefined ? 'renewed' : now === undefined ? 'absent' : 'present',
    transport: protocol,
    era: now && (now.version === LATEST_SESSIONLESS ? 'modern' : 'legacy'),
    revision: now?.version,
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? cut(value) : ''
}

/** A copy, because a slice would keep all of the text. */
function cut(text: string): string {
  return text.length > MAX_TEXT ? `${structuredClone(text.slice(0, MAX_TEXT - 1))}…` : text
}
