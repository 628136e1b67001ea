import type { DescribedRecord, DescribedSource } from '#admin/describe-record.ts'
import { guardText, mcpText, millisecondsText, modelText } from '#admin/record-texts.ts'
import { describeOrigin } from '#base/origin.ts'
import { REJECTIONS } from '#base/rejections.ts'
import { misreadText } from '#exchange/llm-facts.ts'
import type { BodyRecord } from '#observe/kept-body.ts'
import type { StyledText } from '../output.ts'
import { requestText, statusText } from './record-line.ts'
import { timeLine } from './time-line.ts'

type Line = readonly StyledText[]

const NAME_WIDTH = 10

/** What happened to one request, for a person: who asked what, where it went, who decided, and when. */
export function formatRecord(record: DescribedRecord): readonly Line[] {
  return [
    [{ text: requestText(record), style: 'bold' }],
    [{ text: `decision ${record.id} of worker ${record.worker}, ended ${record.time}`, style: 'dim' }],
    [],
    ...resultLines(record),
    ...deciderLines(record),
    [],
    ...placeLines(record),
    [],
    [{ text: 'time line' }],
    ...timeLineLines(record),
    ...bodyLines('request body', record.requestBody),
    ...bodyLines('response body', record.responseBody),
  ]
}

function resultLines(record: DescribedRecord): Line[] {
  const { code, detail, reason } = record
  const known = Object.hasOwn(REJECTIONS, code) ? REJECTIONS[code as keyof typeof REJECTIONS].text : ''
  const meaning = code === '' ? reasonText(reason) : `${code} (${known})`
  const lines: Line[] = [[{ text: 'result'.padEnd(NAME_WIDTH - 1) }, statusText(record), { text: meaning }]]
  if (detail !== '') lines.push(...detail.split('\n').map(indented))
  return lines
}

/** Responses of a backend have the reason `Upstream`. */
function reasonText(reason: string): string {
  return reason === 'Upstream' ? 'from the backend' : reason
}

function deciderLines({ decidedBy }: DescribedRecord): Line[] {
  if (decidedBy === undefined) return []
  const { stage, field, sources } = decidedBy
  return [named('decided', `${field} (${stage})`), ...sources.map((source) => indented(sourceText(source)))]
}

function sourceText({ path, ...origin }: DescribedSource): string {
  const { kind, namespace, name, file, line } = origin
  const object = describeOrigin({
    kind,
    namespace,
    name,
    ...(file !== undefined && { file }),
    ...(line !== undefined && { line }),
  })
  return path === '' ? object : `${object}: ${path}`
}

function placeLines(record: DescribedRecord): Line[] {
  const { gateway, listener, route, rule, backend, section, endpoint, client, consumer, traceId } = record
  return [
    ['listener', [gateway, listener].filter(Boolean).join('/')],
    ['route', [route, rule].filter(Boolean).join(', ')],
    ['backend', [backend, section].filter(Boolean).join(', ')],
    ['endpoint', endpoint],
    ['client', client],
    ['consumer', consumer],
    ['model', modelText(record)],
    ['misread', record.misread && misreadText(record.misread)],
    ['removed', record.removedFields.join(', ')],
    ['left out', record.translation?.dropped.join(', ')],
    ['tokens', tokensText(record)],
    ['mcp', mcpText(record)],
    ['guards', guardText(record)],
    ['trace', traceId],
  ].flatMap(([name, text]) => (!text ? [] : [named(name!, text!)]))
}

function tokensText({ inputTokens, outputTokens }: DescribedRecord): string {
  return inputTokens + outputTokens === 0 ? '' : `${inputTokens} in, ${outputTokens} out`
}

function timeLineLines(record: DescribedRecord): Line[] {
  return timeLine(record).map(({ atMs, text, tookMs, by = '' }) => [
    { text: millisecondsText(atMs).padStart(NAME_WIDTH), style: 'dim' },
    { text },
    { text: tookMs === undefined ? '' : `(${millisecondsText(tookMs)})`, style: 'dim' },
    { text: by, style: 'dim' },
  ])
}

function bodyLines(name: string, body: BodyRecord | undefined): Line[] {
  if (body === undefined) return []
  const { text, isComplete } = body
  if (text === undefined) return [[], [{ text: `${name}: no text` }]]
  const lines = text.split(/\r\n|\n/).map((line): Line => [{ text: ' ' }, { text: line }])
  return [[], [{ text: isComplete ? name : `${name}, its beginning` }], ...lines]
}

function named(name: string, text: string): Line {
  return [{ text: name.padEnd(NAME_WIDTH - 1) }, { text }]
}

function indented(text: string): Line {
  return [{ text: ''.padEnd(NAME_WIDTH - 1) }, { text }]
}
