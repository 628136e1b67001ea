import { clock } from '#base/clock.ts'
import { count } from '#base/count.ts'
import type { GatheredRecords } from '#observe/decision-ring.ts'
import type { GatheredSessions } from '#observe/mcp-session-report.ts'
import type { RouteItem, RouteMatch, WeightedBackend } from '#plan/item.ts'
import type { Answer } from './answer.ts'
import { DECISION_COLUMNS, decisionRow } from './decision-rows.ts'
import { type Html, html, pageAnswer, section, table, withQuote } from './html.ts'
import { type IndexEntry, indexTable } from './index-page.ts'
import { describeSession } from './mcp-sessions.ts'
import { SESSION_COLUMNS, sessionRow } from './session-rows.ts'
import { conditionsIn, isGood } from './status-conditions.ts'
import type {
  CircuitReport,
  EndpointReport,
  ListenerReport,
  ObjectReport,
  ProxyReport,
  StatusReport,
} from './status-report.ts'

/** What the page shows; its texts are without secrets already. */
export interface AdminPageInputs {
  readonly status: StatusReport
  readonly routes: readonly RouteItem[]
  /** Undefined: a controller serves no requests. */
  readonly decisions?: GatheredRecords | undefined
  readonly sessions?: GatheredSessions | undefined
  /** Paths of the server. */
  readonly paths: readonly IndexEntry[]
}

/** Rows of a table; the JSON endpoints have all. */
const MAX_ROWS = 200
const MAX_DECISIONS = 50
const MAX_SESSIONS = 50

/** The state of the gateway on one page. */
export function adminPage({ status, routes, decisions, sessions, paths }: AdminPageInputs): Answer {
  const parts = [
    { id: 'findings', title: 'Findings', content: findings(status) },
    ...(decisions ? [{ id: 'decisions', title: 'Last decisions', content: decisionTable(decisions) }] : []),
    ...(sessions ? [{ id: 'sessions', title: 'MCP sessions', content: sessionTable(sessions) }] : []),
    ...(status.proxies
      ? [{ id: 'proxies', title: 'Proxies', content: proxyTable(status.proxies) }]
      : dataPlane(status)),
    { id: 'routes', title: 'Routes', content: routeTable(routes) },
    { id: 'objects', title: 'Objects', content: objects(status.objects) },
    { id: 'paths', title: 'This server', content: indexTable(paths) },
  ]
  return pageAnswer(
    'Gatewright',
    html`<header>
<h1>Gatewright</h1>
<p>${summary(status)}</p>
<nav aria-label="Sections"><ul>${parts.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul></nav>
</header>
<main>
${parts.map(({ id, title, content }) => section(id, title, content))}</main>`,
  )
}

function dataPlane({ endpoints: all, openCircuits, listeners: open }: StatusReport) {
  return [
    { id: 'backends', title: 'Backends', content: html`${endpoints(all)}${circuits(openCircuits)}` },
    { id: 'listeners', title: 'Listeners', content: listeners(open) },
  ]
}

function summary({ version, planVersion, workers, proxies, objects: all, notReady }: StatusReport): Html {
  const runs = proxies?.map(({ isCurrent }) => isCurrent) ?? workers.map((worker) => worker.planVersion === planVersion)
  const behind = runs.filter((isCurrent) => !isCurrent).length
  const late = behind === 0 ? '' : `, ${behind} of them with another plan`
  const runners = proxies === undefined ? count(workers.length, 'worker') : count(proxies.length, 'proxy', 'proxies')
  const readiness =
    notReady.length === 0
      ? html`<span class="good">Ready.</span>`
      : html`<span class="error">Not ready: ${notReady.join('; ')}.</span>`
  return html`${readiness} Version ${version}. Plan ${planVersion} is in force in ${runners}${late}. ${count(all.length, 'object')}.`
}

function findings({ objects: all, problems, staleFiles, failingOutputs }: StatusReport): Html {
  const rows = all.flatMap(({ origin, findings: found }) =>
    found.map(({ severity, code, path, message }) => [
      html`<span class="${severity === 'error' ? 'error' : 'warning'}">${severity}</span>`,
      objectName(origin),
      html`<code>${path}</code>`,
      withQuote(message, html` <span class="quiet">[${code}]</span>`),
    ]),
  )
  const stale = staleFiles.map(
    ({ file, since, objects: kept }) =>
      html`<p><span class="warning">outdated</span> ${file}: the last valid version of ${kept.join(', ')} has been in use since ${since}</p>
`,
  )
  const files = problems.map((problem) => html`<li><code>${problem}</code></li>`)
  const outputs = failingOutputs.map(
    ({ output, cause, since, lost }) =>
      html`<p><span class="warning">not written</span> ${output}: ${cause}, since ${since}, ${lost} lost</p>
`,
  )
  if ([rows, files, stale, outputs].every(({ length }) => length === 0)) return html`<p class="good">No problems.</p>`
  return html`${outputs}${stale}${files.length > 0 && html`<h3>In files</h3><ul>${bounded(files, '/status')}</ul>`}
${rows.length > 0 && rowsOf(['Severity', 'Object', 'Field', 'Problem'], rows, '/status')}`
}

function listeners(all: readonly ListenerReport[]): Html {
  const rows = all.map(({ listener, address, port, bound, message }) => [
    listener,
    html`<code>${address.includes(':') ? `[${address}]` : address}:${port}</code>`,
    bound && message === undefined
      ? html`<span class="good">accepts connections</span>`
      : html`<span class="error">${bound ? 'serves nothing' : 'not open'}</span> ${message ?? ''}`,
  ])
  return rows.length === 0 ? nothing('No listeners.') : rowsOf(['Listener', 'Address', 'State'], rows, '/status')
}

function proxyTable(all: readonly ProxyReport[]): Html {
  const rows = all.map(({ gateway, proxy, address, isCurrent, refusals }) => [
    proxy,
    gateway,
    html`<code>${address}</code>`,
    html`${isCurrent ? html`<span class="good">current</span>` : html`<span class="warning">behind</span>`}${
      refusals.length > 0 && html`<br>${lines(refusals.map(({ item, message }) => `${item}: ${message}`))}`
    }`,
  ])
  return rows.length === 0 ? nothing('No proxies.') : rowsOf(['Proxy', 'Gateway', 'Address', 'Plan'], rows, '/status')
}

function routeTable(routes: readonly RouteItem[]): Html {
  const rows = routes.map((item) => [
    `${item.route.kind} ${item.route.namespace}/${item.route.name}`,
    item.ruleName ?? `rule ${item.rule}`,
    lines(
      item.attachments.map(({ listener, hostnames }) => [listener.replace('Listener/', ''), ...hostnames].join(' ')),
    ),
    lines(item.matches.map(describeMatch)),
    item.broken !== undefined
      ? html`<span class="error">cannot be served</span> ${item.broken}`
      : lines(
          item.backends.length === 0
            ? ['none']
            : item.backends.map((reference) => describeReference(reference, item.backends.length > 1)),
        ),
  ])
  if (rows.length === 0) return nothing('No routes.')
  return rowsOf(['Route', 'Rule', 'Listeners', 'Matches', 'Backends'], rows, '/config_dump')
}

function describeMatch({ path, method, headers, queryParams }: RouteMatch): string {
  const others = [...headers.map(({ name }) => `header ${name}`), ...queryParams.map(({ name }) => `parameter ${name}`)]
  const also = others.length === 0 ? '' : `, with ${others.join(' and ')}`
  return `${method ?? 'any method'} ${path.type} ${path.value}${also}`
}

function describeReference({ backend, weight, path }: WeightedBackend, isOneOfSeveral: boolean): string {
  return `${backend ?? `missing (${path})`}${isOneOfSeveral ? `, weight ${weight}` : ''}`
}

function endpoints(all: readonly EndpointReport[]): Html {
  const rows = all.map(({ backend, endpoint, health, consecutiveFailures: failures, evictedUntil }) => [
    backend,
    html`<code>${endpoint}</code>`,
    `${Math.round(health * 100)} %${failures === 0 ? '' : `, the last ${count(failures, 'response')} unhealthy`}`,
    evictedUntil === undefined
      ? html`<span class="good">in use</span>`
      : html`<span class="error">evicted</span> until ${evictedUntil}`,
  ])
  return rows.length === 0
    ? nothing('No backends.')
    : rowsOf(['Backend', 'Endpoint', 'Health', 'State'], rows, '/status')
}

function circuits(open: readonly CircuitReport[]): Html {
  const rows = open.map(({ backend, kind, guard }) => [
    backend,
    html`${kind} of <code>${guard}</code>`,
    html`<span class="error">asked once a second</span> until it answers`,
  ])
  return rows.length === 0 ? html`` : rowsOf(['Service', 'Prompt guard', 'State'], rows, '/status')
}

function decisionTable({ records, unanswered }: GatheredRecords): Html {
  const missing = missingWorkers('decisions', unanswered)
  if (records.length === 0) return html`${missing}${nothing('No requests yet.')}`
  return html`${missing}${table(DECISION_COLUMNS, records.slice(0, MAX_DECISIONS).map(decisionRow))}${
    records.length > MAX_DECISIONS && more(records.length - MAX_DECISIONS, '/decisions')
  }`
}

function sessionTable({ sessions, unanswered }: GatheredSessions): Html {
  const missing = missingWorkers('sessions', unanswered)
  if (sessions.length === 0) return html`${missing}${nothing('No sessions.')}`
  const nowMs = clock.now()
  const rows = sessions.slice(0, MAX_SESSIONS).map((session) => sessionRow(describeSession(session, nowMs)))
  return html`${missing}${table(SESSION_COLUMNS, rows)}${
    sessions.length > MAX_SESSIONS && more(sessions.length - MAX_SESSIONS, '/mcp_sessions')
  }`
}

function missingWorkers(what: string, unanswered: readonly string[]): Html | false {
  return (
    unanswered.length > 0 &&
    html`<p class="warning">Without the ${what} of ${unanswered.join(', ')}, which did not answer in time.</p>
`
  )
}

function objects(all: readonly ObjectReport[]): Html {
  const rows = all.map(({ origin, status }) => [
    objectName(origin),
    origin.file === undefined ? '' : html`<code>${origin.file}:${origin.line ?? 1}</code>`,
    lines(
      conditionsIn(status).map((condition) => {
        const { type, status: state, reason, message, of } = condition
        const name = `${of === undefined ? '' : `${of}: `}${type} ${state}`
        return isGood(condition)
          ? html`<span class="good">✓ ${name}</span>`
          : html`<span class="warning">✗ ${name} (${reason})</span> ${message}`
      }),
    ),
  ])
  return rows.length === 0 ? nothing('No objects.') : rowsOf(['Object', 'File', 'Conditions'], rows, '/status')
}

function objectName({ kind, namespace, name }: ObjectReport['origin']): string {
  return `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`
}

function lines(all: readonly (string | Html)[]): Html {
  return html`${all.slice(0, MAX_ROWS).map((line, at) => html`${at > 0 && html`<br>`}${line}`)}`
}

function nothing(text: string): Html {
  return html`<p class="quiet">${text}</p>`
}

function rowsOf(columns: readonly string[], rows: readonly (readonly (string | Html)[])[], all: string): Html {
  const rest = rows.length - MAX_ROWS
  return html`${table(columns, rows.slice(0, MAX_ROWS))}${rest > 0 && more(rest, all)}`
}

function bounded(items: readonly Html[], all: string): Html {
  const rest = items.length - MAX_ROWS
  return html`${items.slice(0, MAX_ROWS)}${rest > 0 && html`<li>${more(rest, all)}</li>`}`
}

function more(rest: number, path: string): Html {
  return html`<p class="quiet">and ${rest} more: <a href="${path}">${path}</a></p>`
}
