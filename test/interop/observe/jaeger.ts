import { join } from 'node:path'
import { eventually } from '../../support/eventually.ts'
import { builtGoProgram, startPrintingServer } from '../counterparts.ts'
import type { Transcript } from '../transcript.ts'
import { askThroughGateway, CHAIN } from './instrumented-services.ts'

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string }
}

/** The members that the check reads of what Jaeger answers: OTLP in its form of JSON. */
interface Answer {
  readonly result: {
    readonly resourceSpans: readonly {
      readonly resource: { readonly attributes: readonly Attribute[] }
      readonly scopeSpans: readonly { readonly spans: readonly Span[] }[]
    }[]
  }
}

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
}

const KINDS: Readonly<Record<number, string>> = { 2: 'SERVER', 3: 'CLIENT' }

/** The query API of Jaeger finds the trace of one request by the gateway's service and by its id, as one tree of three services. */
export async function checkJaeger(transcript: Transcript, stops: AsyncDisposableStack): Promise<void> {
  const program = builtGoProgram(join(import.meta.dirname, 'jaeger'), 'query')
  const { port } = stops.use(await startPrintingServer(program, {}))
  const url = `http://127.0.0.1:${port}`
  const ask = async <T>(path: string) => (await (await fetch(`${url}${path}`)).json()) as T
  const { status } = await askThroughGateway(stops, { url: `${url}/v1/traces`, port, protocol: 'HTTP' })
  transcript.check('the second service answers', status, 200)

  const range = [-600_000, 600_000].map((ms) => encodeURIComponent(new Date(Date.now() + ms).toISOString()))
  const search = `/api/v3/traces?query.service_name=gatewright&query.num_traces=10&query.start_time_min=${range[0]}&query.start_time_max=${range[1]}`
  const found = await eventually('all spans', async () => {
    const { result } = await ask<Partial<Answer>>(search)
    const spans = result === undefined ? [] : spansOf({ result })
    return spans.length >= CHAIN.length ? spans : undefined
  })
  const { services } = await ask<{ readonly services: readonly string[] }>('/api/v3/services')
  transcript.check('the services', services.toSorted(), ['first', 'gatewright', 'second'])
  const trace = found[0]!.traceId
  const spans = spansOf(await ask<Answer>(`/api/v3/traces/${trace}`))
  transcript.check('one trace', [spans.length, new Set(spans.map(({ traceId }) => traceId)).size], [CHAIN.length, 1])
  transcript.check('the spans, each the child of the one before', chainOf(spans), CHAIN)
}

function spansOf({ result }: Answer): (Span & { readonly service: string })[] {
  return result.resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? ''
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, service })))
  })
}

function chainOf(spans: readonly (Span & { readonly service: string })[]): string[] {
  const chain: string[] = []
  let parent = ''
  for (;;) {
    const child = spans.find(({ parentSpanId = '' }) => parentSpanId === parent)
    if (child === undefined) return chain
    parent = child.spanId
    chain.push(`${child.service} ${KINDS[child.kind]}`)
  }
}
