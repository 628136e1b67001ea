import { shortDuration } from '#base/short-duration.ts'
import { type Html, html } from './html.ts'
import type { DescribedCall, DescribedError, DescribedSession, McpTargetReport } from './mcp-sessions.ts'

export const SESSION_COLUMNS = ['Session', 'Client', 'Targets', 'In flight', 'Last errors']

/** A session of an MCP client as a row of a table. */
export function sessionRow(session: DescribedSession): readonly Html[] {
  const { backend, client, clientVersion, revision, ageSeconds, idleSeconds, targets, calls, errors } = session
  const name = session.session === '' ? '' : client === '' ? 'without a name' : `${client} ${clientVersion}`
  const link = html`<a href="/mcp_sessions?session=${session.session}"><code>${session.session}</code></a>`
  return [
    html`${session.session === '' ? 'without a session' : link}<br>${backend}`,
    html`${name}<br><span class="quiet">${revision}<br>${shortDuration(ageSeconds * 1000)} old, ${idleText(idleSeconds, calls)}</span>`,
    lines(targets.map(targetLine)),
    lines(
      calls.map((call) => html`${callText(call)} <span class="quiet">for ${shortDuration(call.seconds * 1000)}</span>`),
    ),
    lines(errors.map(errorLine)),
  ]
}

/** The page has one row for each session, and a session can have 1,000 targets. */
const MAX_LINES = 10

function lines(all: readonly Html[]): Html {
  const rest = all.length - MAX_LINES
  return html`${all.slice(0, MAX_LINES).map((line, at) => html`${at > 0 && html`<br>`}${line}`)}${
    rest > 0 && html`<br><span class="quiet">and ${rest} more</span>`
  }`
}

function targetLine({ target, state, transport, era, revision, changedTools }: McpTargetReport): Html {
  const kind = state === 'absent' ? 'error' : 'good'
  const how = [transport, revision, era === 'modern' && 'without sessions'].filter(Boolean).join(', ')
  return html`${target} <span class="${kind}">${state}</span> <span class="quiet">${how}</span>${
    changedTools.length > 0 && html` <span class="error">changed: ${changedTools.join(' ')}</span>`
  }`
}

function errorLine({ time, code, message, ...call }: DescribedError): Html {
  return html`<time datetime="${time}">${time.slice(11, 19)}</time> ${callText(call)}: <span class="error">${code}</span> ${message}`
}

/** `tools/call search at weather`; for a stream of notifications `stream of notifications`. */
export function callText({ method, target, item }: Pick<DescribedCall, 'method' | 'target' | 'item'>): string {
  if (method === 'GET') return 'stream of notifications'
  return [method, item, target !== undefined && `at ${target}`].filter(Boolean).join(' ')
}

/** `idle for 3 min`, or `in use`. */
export function idleText(idleSeconds: number, calls: readonly unknown[]): string {
  return calls.length > 0 ? 'in use' : `idle for ${shortDuration(idleSeconds * 1000)}`
}
