import { afterAll, beforeAll, describe, test } from 'vitest'
import { anthropicMessages } from '#test/interop/llm/clients/anthropic.ts'
import { openaiChat, openaiResponses } from '#test/interop/llm/clients/openai.ts'
import { GUARD_SCENARIOS } from '#test/interop/llm/guard-scenarios.ts'
import { backendOf, startUpstreams, UPSTREAMS } from '#test/interop/llm/upstreams.ts'
import { startVendors } from '#test/interop/llm/vendor/server.ts'
import { startGateway } from '#test/support/gateway.ts'

// The vendors' own clients behind prompt guards, with providers of their API and of others.

const stops = new AsyncDisposableStack()
let gateway: { readonly url: string; readonly secureUrl: string }

beforeAll(async () => {
  const vendors = stops.use(await startVendors())
  gateway = await startUpstreams(vendors.port, stops, startGateway)
})

afterAll(() => stops.disposeAsync())

const reached = UPSTREAMS.filter(({ name }) => ['one', 'four', 'seven'].includes(name))

describe.each([openaiChat, openaiResponses, anthropicMessages])('$name', ({ connect, errors = {} }) => {
  describe.each(reached)('with $api of $name', (upstream) => {
    test.each(Object.entries(GUARD_SCENARIOS))('%s', async (scenario, run) => {
      const name = backendOf(upstream, scenario)
      const headers = { 'x-scenario': scenario }
      const target = { url: `${gateway.url}/${name}`, secureUrl: `${gateway.secureUrl}/${name}`, upstream, headers }
      const circumstances = { errors, others: [], keepsThoughts: true, hasLeft: () => Promise.resolve(false) }
      await run(connect!(target), circumstances)
    })
  })
})
