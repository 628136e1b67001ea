import { randomUUID } from 'node:crypto'
import { installedNpmPackages } from '../counterparts.ts'
import type { Client, Target } from './client.ts'
import { AI_SDK_PACKAGES, aiSdkClients } from './clients/ai-sdk.ts'
import { anthropicMessages, anthropicOthers } from './clients/anthropic.ts'
import { bedrock } from './clients/bedrock.ts'
import { GOOGLE_PACKAGES, googleClients } from './clients/google.ts'
import { LANGCHAIN_PACKAGES, langchainClients } from './clients/langchain.ts'
import { openaiChat, openaiOthers, openaiRealtime, openaiResponses } from './clients/openai.ts'
import { whyNoOtherForm, whyThoughtsAreLost, withoutForm } from './form-scenarios.ts'
import { runPythonClients } from './python-clients.ts'
import { SCENARIOS } from './scenarios.ts'
import { type Cell, Table } from './table.ts'
import { backendOf, startUpstreams, UPSTREAMS, type Upstream, unsigned } from './upstreams.ts'
import { startVendors } from './vendor/server.ts'

// Drives official clients of LLM vendors through a running gateway: see README.md.

const folder = installedNpmPackages('npm-llm', ...AI_SDK_PACKAGES, ...LANGCHAIN_PACKAGES, ...GOOGLE_PACKAGES)
const CLIENTS: readonly Client[] = [
  openaiChat,
  openaiResponses,
  openaiOthers,
  openaiRealtime,
  anthropicMessages,
  anthropicOthers,
  ...aiSdkClients(folder),
  ...langchainClients(folder),
  ...googleClients(folder),
  bedrock,
]

await using stops = new AsyncDisposableStack()
const vendors = stops.use(await startVendors())
const gateway = await startUpstreams(vendors.port, stops)
const table = new Table(UPSTREAMS.map(({ name }) => name))
const only = process.argv[2] === '--only' ? process.argv[3]?.split(',') : undefined
for (const client of CLIENTS) {
  if (only !== undefined && !only.includes(client.name)) continue
  const scenarios = [...(client.connect ? Object.keys(SCENARIOS) : []), ...Object.keys(client.checks ?? {})]
  table.expect(client.name, scenarios)
  for (const upstream of UPSTREAMS) await checkUpstream(client, upstream, scenarios)
}
if (only === undefined || only.includes('python')) {
  const cells = await runPythonClients(gateway.url, `http://127.0.0.1:${vendors.port}`)
  for (const [client, upstream, scenario, cell] of cells) table.add(client, upstream, scenario, cell)
}
table.print()
process.exitCode = table.failures > 0 ? 1 : 0

async function checkUpstream(client: Client, upstream: Upstream, scenarios: readonly string[]): Promise<void> {
  const unreachable = client.unreachable?.(upstream)
  const cells = scenarios.map(async (scenario) => {
    const { name, isOther } = withoutForm(scenario)
    const isUnguarded = scenario.startsWith('guard-') && client.isPassed === true
    const unguarded = isUnguarded ? 'no guard reads what passes through' : undefined
    const unchanged = isOther ? whyNoOtherForm(client, upstream) : undefined
    const cannot = unreachable ?? unguarded ?? unchanged ?? client.cannot?.(name, upstream)
    const cell = cannot === undefined ? await cellOf(client, upstream, scenario) : { cannot }
    table.add(client.name, upstream.name, scenario, cell)
  })
  await Promise.all(cells)
}

async function cellOf(client: Client, upstream: Upstream, scenario: string): Promise<Cell> {
  const { target, run } = targetOf(upstream, scenario)
  const hasLeft = async () => (await (await fetch(`http://127.0.0.1:${vendors.port}/left/${run}`)).text()) === 'true'
  const { name } = withoutForm(scenario)
  const lost = name.startsWith('thinking')
    ? (unsigned(upstream) ?? whyThoughtsAreLost(client, upstream, scenario) ?? client.losesThoughts?.(upstream, name))
    : undefined
  try {
    const check = client.checks?.[scenario]
    const others = (client.connect && scenario === 'moved' ? UPSTREAMS : [])
      .filter((one) => one !== upstream && client.unreachable?.(one) === undefined)
      .map((one) => ({
        name: one.name,
        connection: client.connect!(targetOf(one, scenario).target),
      }))
    const circumstances = {
      others,
      errors: client.errors ?? {},
      hasLeft,
      keepsThoughts: lost === undefined,
    }
    if (check) await check(target)
    else await SCENARIOS[scenario]!(client.connect!(target), circumstances)
    return lost === undefined ? 'pass' : { cannot: lost }
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) }
  }
}

function targetOf(upstream: Upstream, scenario: string): { readonly target: Target; readonly run: string } {
  const run = randomUUID()
  const headers = { 'x-scenario': scenario, 'x-run': run }
  const { url, secureUrl } = gateway
  const name = backendOf(upstream, scenario)
  return {
    target: { url: `${url}/${name}`, secureUrl: `${secureUrl}/${name}`, upstream, headers },
    run,
  }
}
