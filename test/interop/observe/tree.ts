import { eventually } from '../../support/eventually.ts'
import { idsOf } from '../../support/traced-gateway.ts'
import type { Transcript } from '../transcript.ts'
import { askThroughGateway, CHAIN } from './instrumented-services.ts'
import { startRealCollector } from './real-collector.ts'

/** A request of an instrumented service to another one through the gateway is one trace, whose spans form a tree. */
export async function checkTree(transcript: Transcript, stops: AsyncDisposableStack): Promise<void> {
  const { grpcPort, httpPort, passed } = await startRealCollector(stops)
  const url = `http://127.0.0.1:${httpPort}/v1/traces`
  const { status, text } = await askThroughGateway(stops, { url, port: grpcPort, protocol: 'GRPC' })
  transcript.check('the second service answers', [status, text.slice(0, 10)], [200, 'second got'])
  await eventually('all spans', () => passed.length >= CHAIN.length || undefined)
  const chain: string[] = []
  let parent = ''
  for (;;) {
    const child = passed.find((one) => idsOf(one).parent === parent)
    if (child === undefined) break
    parent = idsOf(child).span
    chain.push(`${child.resource['service.name']} ${String(child.item.kind).slice('SPAN_KIND_'.length)}`)
  }
  transcript.check('the spans, each the child of the one before', chain, CHAIN)
  transcript.check('one trace', [passed.length, new Set(passed.map((one) => idsOf(one).trace)).size], [5, 1])
}
