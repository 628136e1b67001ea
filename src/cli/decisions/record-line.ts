import type { DescribedRecord } from '#admin/describe-record.ts'
import { mcpText, millisecondsText, modelText } from '#admin/record-texts.ts'
import type { StyledText } from '../output.ts'

/** A record in one line: time, status, duration, request, place, what was asked, why it was refused, id. */
export function recordLine(record: DescribedRecord): readonly StyledText[] {
  const { id, time, durationMs, route, endpoint, code, detail } = record
  const place = [route, endpoint && `→ ${endpoint}`].filter((text) => text !== '').join(' ')
  const asked = [mcpText(record), modelText(record)].filter((text) => text !== '').join(' ')
  return [
    { text: time.slice(11, 23), style: 'dim' },
    statusText(record),
    { text: millisecondsText(durationMs).padStart(8) },
    { text: requestText(record) },
    { text: place, style: 'cyan' },
    { text: asked },
    { text: [code, firstLine(detail)].filter((text) => text !== '').join(': '), style: 'yellow' },
    { text: id, style: 'dim' },
  ]
}

/** `GET shop.example/cart`; of a connection the name of its server, or its client. */
export function requestText({ method, authority, target, client }: DescribedRecord): string {
  return method === '' ? `connection ${authority || `from ${client}`}` : `${method} ${authority}${target}`
}

/** Without the quoted expression and its mark, which some details have below. */
function firstLine(detail: string): string {
  return detail.split('\n', 1)[0]!
}

export function statusText({ status }: DescribedRecord): StyledText {
  const style = status === 0 || status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green'
  return { text: status === 0 ? '---' : String(status), style }
}
