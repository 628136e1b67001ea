import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { modelsYaml } from '#test/support/chat-provider.ts'
import { gatewright } from '#test/support/command-line.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

// What a call costs, from the answer of the provider to log, metrics and a response header.

const stops = new AsyncDisposableStack()
let port: number
let gateway: TestGateway
let prices: string
let folder: string

const USAGE = {
  prompt_tokens: 1000,
  completion_tokens: 100,
  total_tokens: 1100,
  prompt_tokens_details: { cached_tokens: 400 },
}

/** Answers in the name of the model of the request. */
async function startProvider(): Promise<number> {
  const server = createServer((incoming, response) => {
    let text = ''
    incoming.on('data', (piece) => {
      text += piece
    })
    incoming.on('end', () => {
      const { model, stream } = JSON.parse(text)
      const choices = [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }]
      response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json')
      const chunk = { id: 'c', model, choices: [{ index: 0, delta: { content: 'yes' }, finish_reason: 'stop' }] }
      const events = [chunk, { id: 'c', model, choices: [], usage: USAGE }].map((one) => JSON.stringify(one))
      const body = stream ? [...events, '[DONE]'].map((data) => `data: ${data}\n\n`).join('') : undefined
      response.end(body ?? JSON.stringify({ id: 'c', model, choices, usage: USAGE }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => new Promise((resolve) => void server.close(() => resolve())))
  stops.defer(async () => server.closeAllConnections())
  return (server.address() as AddressInfo).port
}

beforeAll(async () => {
  const provider = await startProvider()
  port = await freePort()
  const set = [
    { name: 'x-cost', value: 'has(llm.cost.total) ? string(llm.cost.total) : "unknown"' },
    { name: 'x-rate', value: 'string(llm.costRates.output)' },
    { name: 'x-size', value: 'string(size(response.body))' },
  ]
  const objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      modelsYaml('models', provider),
      routeYaml('chat', '/', 'models'),
      policyYaml('costs', 'HTTPRoute', 'chat', { traffic: { transformation: { response: { set } } } }),
    ),
    '.prices.yaml': 'prices: [{ model: mine, input: 1, output: 2 }]',
  })
  stops.defer(objects.remove)
  folder = objects.path
  prices = join(folder, '.prices.yaml')
  gateway = await startGateway({
    files: [folder],
    workers: 1,
    environment: { GATEWRIGHT_LOG_FORMAT: 'json', GATEWRIGHT_PRICES: prices },
  })
  stops.defer(async () => void (await gateway.close()))
})

afterAll(() => stops.disposeAsync())

async function chat(model: string, more: object = {}): Promise<Response> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'yes?' }], ...more }),
  })
  await response.clone().arrayBuffer()
  return response
}

const lineOf = (model: string, streamed = false) =>
  eventually(`the line of ${model}`, () =>
    gateway.output.stdout
      .split('\n')
      .filter((line) => line.includes(`"gen_ai.request.model":"${model}"`))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .find((line) => 'gatewright.ai.time_to_first_token' in line === streamed),
  )

const costsIn = (line: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(line).flatMap(([name, value]) => (name.includes('.usage.cost.') ? [[name, value]] : [])),
  )

const metricOf = async (model: string) => {
  const text = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  const lines = text.split('\n').filter((line) => line.startsWith('gatewright_gen_ai_client_cost_usd_total{'))
  return lines
    .find((line) => line.includes(`gen_ai_response_model="${model}"`))
    ?.split(' ')
    .at(-1)
}

// gpt-4o-mini: 0.15 dollars for a million tokens, 0.6 of output, 0.075 of cached input.
const COSTS = {
  'gatewright.ai.usage.cost.input': 0.00009,
  'gatewright.ai.usage.cost.output': 0.00006,
  'gatewright.ai.usage.cost.cache_read': 0.00003,
  'gatewright.ai.usage.cost.total': 0.00018,
}

test('a model with a built-in price: in the response, the log and the metrics, whole and as a stream', async () => {
  const { headers } = await chat('gpt-4o-mini')
  expect([headers.get('x-cost'), headers.get('x-rate')]).toEqual(['0.00018', '0.6'])
  expect(costsIn(await lineOf('gpt-4o-mini'))).toEqual(COSTS)
  await chat('gpt-4o-mini', { stream: true })
  expect(costsIn(await lineOf('gpt-4o-mini', true))).toEqual(COSTS)
  expect(Number(await metricOf('gpt-4o-mini'))).toBeCloseTo(0.00036, 12)
})

test('a model without a price has no cost, rather than 0', async () => {
  expect((await chat('nobody-knows')).headers.get('x-cost')).toBe('unknown')
  expect(costsIn(await lineOf('nobody-knows'))).toEqual({})
  expect(await metricOf('nobody-knows')).toBeUndefined()
})

test('the price file applies at once, and its last valid prices while it has errors', async () => {
  const costOfMine = async () => (await chat('mine')).headers.get('x-cost')
  expect(await costOfMine()).toBe('0.0012')
  writeFileSync(prices, 'prices:\n  - model: mine\n    input: -1\n')
  const problem = `error: prices[0].input: must be between 0 and 1000000`
  await eventually('the problem', () => gateway.output.stderr.includes('a file has errors') || undefined)
  const status = (await (await fetch(`${gateway.url(15_000)}/status`)).json()) as { problems: string[] }
  expect(status.problems).toEqual([`${prices}:3:5: ${problem} [out-of-range]`])
  expect(await costOfMine()).toBe('0.0012')
  const lint = await gatewright(['lint', folder], { GATEWRIGHT_PRICES: prices })
  expect([lint.code, lint.stdout]).toEqual([1, expect.stringContaining(`${prices}:3:5: ${problem}`)])
  writeFileSync(prices, 'prices: [{ model: mine, input: 10, output: 20, cacheRead: 1 }]')
  await eventually('the new price', async () => (await costOfMine()) === '0.0084' || undefined)
})

test('lint checks a price file among the objects, and reports its problems once', async () => {
  const folder = await createObjectsFolder({ 'prices.yaml': 'prices:\n  - model: m\n    input: 1\n' })
  stops.defer(folder.remove)
  const lint = () => gatewright(['lint', folder.path], { GATEWRIGHT_PRICES: join(folder.path, 'prices.yaml') })
  expect((await lint()).code).toBe(0)
  await folder.write('prices.yaml', 'prices:\n  - model: m\n    inptu: 1\n')
  const { code, stdout } = await lint()
  expect(code).toBe(1)
  expect(stdout.match(/prices\.yaml:3:5/g)).toHaveLength(1)
})
