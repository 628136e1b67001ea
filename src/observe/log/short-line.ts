import { styleText } from 'node:util'
import { LEVELS } from '#base/log-levels.ts'
import { timeOfDay } from '#base/time-of-day.ts'
import { escapeInvisible } from '#base/visible-text.ts'
import { type LineFormat, TEXT_LINE } from './field-line.ts'

/** Fields that are shown of a request; of messages of the gateway all are but those in `DETAILS`. */
const OF_REQUESTS: ReadonlySet<string> = new Set([
  ...['tls.sni', 'http.method', 'http.host', 'http.path', 'http.status', 'grpc.status'],
  ...['a2a.method', 'mcp.method.name', 'gen_ai.tool.name', 'gen_ai.prompt.name', 'mcp.error.code', 'mcp.error.message'],
  ...['gen_ai.request.model', 'error.type', 'error', 'code', 'decision', 'duration'],
])
const DETAILS: ReadonlySet<string> = new Set(['metrics.port', 'readiness.port', 'path', 'accept.seconds'])
/** Fields whose values need no name. */
const UNNAMED: ReadonlySet<string> = new Set(['http.method', 'http.host', 'http.path', 'http.status', 'url'])
/** Longer texts of messages are below their line. */
const LONGEST_INLINE = 60

type Style = Parameters<typeof styleText>[0]

const LEVEL_STYLES: Readonly<Record<string, Style>> = { error: 'red', warn: 'yellow', info: 'green', debug: 'dim' }
const LEVEL_WIDTH = Math.max(...LEVELS.map(({ length }) => length))

/** Lines for people at a terminal: `14:03:22 info  ready admin=http://127.0.0.1:15000`, with the main fields, in local time. */
export function shortLine(hasColors: boolean): LineFormat {
  const styled = (style: Style, text: string) => (hasColors ? styleText(style, text, { validateStream: false }) : text)
  const start = (epochMs: number, level: string) =>
    `${styled('dim', timeOfDay(epochMs))} ${styled(LEVEL_STYLES[level] ?? 'dim', level.padEnd(LEVEL_WIDTH))}`
  return {
    ...TEXT_LINE,
    start: (epochMs) => `${start(epochMs, 'info')} request`,
    message: (epochMs, { level, message }) => `${start(epochMs, level)} ${message}`,
    // Only in the text format would `=` look like the next field.
    text: (value) => {
      const others = value.replaceAll('=', '')
      return TEXT_LINE.text(others) === others ? value : TEXT_LINE.text(value)
    },
    key: (name) => (UNNAMED.has(name) ? ' ' : styled('dim', ` ${name}=`)),
    below: (value) =>
      value.length > LONGEST_INLINE || value.includes('\n')
        ? value
            .split('\n')
            .map((line) => `    ${escapeInvisible(line)}\n`)
            .join('')
        : undefined,
    shows: (name, isRequest) => (isRequest ? OF_REQUESTS.has(name) : !DETAILS.has(name)),
  }
}
