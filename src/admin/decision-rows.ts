import type { DecisionRecord } from '#observe/decision-ring.ts'
import { type Html, html, withQuote } from './html.ts'
import { guardText, mcpText, millisecondsText, modelText } from './record-texts.ts'

export const DECISION_COLUMNS = ['Time', 'Request', 'Answer', 'Place', 'Time line']

/** A decision as a row of a table. */
export function decisionRow(record: DecisionRecord): readonly Html[] {
  const { time, id, method, authority, target, client, status, code, detail } = record
  return [
    html`<time datetime="${isoTime(time)}">${isoTime(time).slice(11, 23)}</time><br><a href="/decisions?id=${encodeURIComponent(id)}"><code>${id}</code></a>`,
    html`${method === '' ? 'not a request' : html`<code class="wide">${method} ${target}</code>`}<br><span class="quiet">${authority !== '' && html`${authority}<br>`}from ${client}</span>`,
    answerCell(status, code, detail),
    placeCell(record),
    timeLine(record),
  ]
}

function isoTime(time: number): string {
  return new Date(time).toISOString()
}

function answerCell(status: number, code: string, detail: string): Html {
  const kind = status === 0 || status >= 500 ? 'error' : status >= 400 ? 'warning' : 'good'
  const shown = status === 0 ? 'none' : status
  return html`<span class="${kind}">${shown}${code === '' ? '' : ` ${code}`}</span>${detail !== '' && html`<br>${withQuote(detail)}`}`
}

function placeCell(record: DecisionRecord): Html {
  const { gateway, listener, route, rule, backend, endpoint, section, worker } = record
  const listenerName = [gateway, listener].filter((name) => name !== '').join('/')
  const lines = [
    listenerName,
    [route, rule].filter((name) => name !== '').join(' '),
    [[backend, section].filter((name) => name !== '').join(' '), endpoint].filter((name) => name !== '').join(' at '),
    modelText(record),
    mcpText(record),
    guardText(record),
    attemptsText(record),
  ].filter((line) => line !== '')
  return html`${lines.map((line) => html`${line}<br>`)}<span class="quiet">worker ${worker}</span>`
}

/** Of an MCP message, the attempts are calls to its targets. */
function attemptsText({ attempts: { length }, mcp }: DecisionRecord): string {
  if (length <= 1) return ''
  return mcp === undefined ? `${length} attempts` : `${length} calls to targets`
}

/** When the request was received, sent to the backend, answered by it, and ended; as text, and as a bar in which the backend is darker. */
function timeLine({ durationMs, sentMs, answeredMs }: DecisionRecord): Html {
  const points = [
    'received',
    ...(sentMs === undefined ? [] : [`sent ${millisecondsText(sentMs)}`]),
    ...(answeredMs === undefined ? [] : [`answered ${millisecondsText(answeredMs)}`]),
    `ended ${millisecondsText(durationMs)}`,
  ]
  const text = html`${points.join(' → ')}`
  if (durationMs <= 0 || sentMs === undefined) return text
  const from = share(sentMs, durationMs)
  const until = share(answeredMs ?? durationMs, durationMs)
  return html`${text}<svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect class="wait" width="100" height="1"/><rect class="work" x="${from}" width="${Math.max(until - from, 0.5)}" height="1"/></svg>`
}

function share(ms: number, durationMs: number): number {
  return Math.round(Math.min(Math.max(ms / durationMs, 0), 1) * 1000) / 10
}
