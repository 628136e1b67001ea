import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { anthropicMessages } from '#test/interop/llm/clients/anthropic.ts'
import { openaiChat, openaiResponses } from '#test/interop/llm/clients/openai.ts'
import { withoutForm } from '#test/interop/llm/form-scenarios.ts'
import { FORM_SCENARIOS } from '#test/interop/llm/scenarios.ts'
import { startUpstreams, UPSTREAMS } from '#test/interop/llm/upstreams.ts'
import { startVendors } from '#test/interop/llm/vendor/server.ts'
import { startGateway } from '#test/support/gateway.ts'

// The vendors' own clients, with providers that send a stream instead of a whole answer, and the reverse.

const stops = new AsyncDisposableStack()
let gateway: { readonly url: string; readonly secureUrl: string }
let vendors: string

beforeAll(async () => {
  const { port } = stops.use(await startVendors())
  vendors = `http://127.0.0.1:${port}`
  gateway = await startUpstreams(port, stops, startGateway)
})

afterAll(() => stops.disposeAsync())

/** Each client with a provider that has its API, unless the gateway refuses the other form of it, and with one that has another. */
const CLIENTS = [
  { client: openaiChat, upstreams: ['one', 'four'] },
  { client: openaiResponses, upstreams: ['seven'] },
  { client: anthropicMessages, upstreams: ['four', 'one'] },
]

describe.each(CLIENTS)('$client.name', ({ client, upstreams }) => {
  describe.each(UPSTREAMS.filter(({ name }) => upstreams.includes(name)))('with $name', (upstream) => {
    const scenarios = Object.entries(FORM_SCENARIOS).filter(
      ([scenario]) => client.cannot?.(withoutForm(scenario).name, upstream) === undefined,
    )
    test.each(scenarios)('%s', async (scenario, run) => {
      const id = randomUUID()
      const headers = { 'x-scenario': scenario, 'x-run': id }
      const { url, secureUrl } = gateway
      const target = { url: `${url}/${upstream.name}`, secureUrl: `${secureUrl}/${upstream.name}`, upstream, headers }
      const hasLeft = async () => (await (await fetch(`${vendors}/left/${id}`)).text()) === 'true'
      const lost = client.losesThoughts?.(upstream, withoutForm(scenario).name)
      const circumstances = { errors: {}, others: [], keepsThoughts: lost === undefined, hasLeft }
      await run(client.connect!(target), circumstances)
    })
  })
})
