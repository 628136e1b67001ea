import type { Transcript } from '../../transcript.ts'
import { type McpBackends, startMcpGateway } from '../mcp-gateway.ts'
import type { PairClient, PairServer } from './pair.ts'
import { type Endpoint, type Outcomes, SCENARIOS, type Scenario } from './scenarios.ts'

/** The name of the target that is meant, and of one beside it. */
const TARGET = 'main'
const BESIDE = 'beside'

/**
 * Lets every client meet every server, directly and through the gateway with one target and with two. What works directly must work
 * through the gateway; so must transports that only the gateway can bring together.
 */
export async function checkMeetings(
  servers: readonly PairServer[],
  clients: readonly PairClient[],
  transcript: Transcript,
  stops: AsyncDisposableStack,
): Promise<void> {
  const gateway = await startMcpGateway(stops, backendsOf(servers))
  const table: Record<string, Record<string, string>> = {}
  for (const client of clients) {
    // A server meets one client at a time, since it counts what that client cancels.
    const met = await Promise.all(servers.map((server) => judgeAll(client, meetingsOf(client, server, gateway.port))))
    for (const { name, worse, lines } of met.flat()) {
      for (const line of lines) console.log(`     ${client.name} - ${name}: ${line}`)
      transcript.check(`${client.name} and ${name}: scenarios that are worse`, worse, 0)
    }
    table[client.name] = Object.fromEntries(met.flat().map(({ name, summary }) => [name, summary]))
  }
  console.table(table)
}

async function judgeAll(client: PairClient, meetings: readonly Meeting[]): Promise<readonly Judged[]> {
  const judged: Judged[] = []
  for (const meeting of meetings) judged.push(await judge(client, meeting))
  return judged
}

/** A backend of one target and of two for each transport of each server. */
function backendsOf(servers: readonly PairServer[]): McpBackends {
  const beside = servers[0]!
  const backends: Record<string, McpBackends[string]> = {}
  for (const { name, port, paths } of servers) {
    for (const [wire, path] of Object.entries(paths)) {
      const protocol = wire === 'sse' ? 'SSE' : 'StreamableHTTP'
      const target = { port, path, protocol } as const
      backends[`${name}-${wire}-one`] = { [TARGET]: target }
      backends[`${name}-${wire}-two`] = { [TARGET]: target, [BESIDE]: { port: beside.port, path: '/mcp' } }
    }
  }
  return backends
}

/** A client and a server: how they meet without the gateway, if they can, and with it. */
interface Meeting {
  readonly name: string
  readonly direct: Endpoint | undefined
  readonly ways: Readonly<Record<string, Endpoint>>
}

function meetingsOf({ wire }: PairClient, { name, port, paths }: PairServer, gateway: number): readonly Meeting[] {
  return Object.entries(paths).map(([serverWire, path]) => {
    const backend = `${name}-${serverWire}`
    const suffix = wire === 'sse' ? '/sse' : ''
    return {
      name: serverWire === 'http' ? name : `${name} ${serverWire}`,
      direct: wire === serverWire ? { url: `http://127.0.0.1:${port}${path}` } : undefined,
      ways: {
        'one target': { url: `http://127.0.0.1:${gateway}/${backend}-one${suffix}` },
        'two targets': { url: `http://127.0.0.1:${gateway}/${backend}-two${suffix}`, target: TARGET },
      },
    }
  })
}

interface Judged {
  readonly name: string
  readonly worse: number
  readonly summary: string
  readonly lines: readonly string[]
}

async function judge(client: PairClient, { name, direct, ways }: Meeting): Promise<Judged> {
  const expected = direct && (await client.run(direct))
  const before = (scenario: Scenario) => expected?.[scenario] ?? (scenario === 'resume' ? NOT_ACROSS : 'ok')
  const lines: string[] = []
  let worse = 0
  for (const [way, endpoint] of Object.entries(ways)) {
    const lostIn = (seen: Outcomes) =>
      SCENARIOS.filter((one) => before(one) === 'ok' && seen[one] !== 'ok' && !seen[one].startsWith('-'))
    const first = lostIn(await client.run(endpoint))
    if (first.length === 0) continue
    // What failed only once was busy, not worse.
    const seen = await client.run(endpoint)
    const lost = lostIn(seen).filter((one) => first.includes(one))
    worse += lost.length
    for (const [why, scenarios] of Map.groupBy(lost, (one) => seen[one].replace(/"id":[^,}]*,/, ''))) {
      lines.push(`worse with ${way}: ${scenarios.join(', ')}: ${why}`)
    }
  }
  const short = SCENARIOS.filter((one) => before(one) !== 'ok')
  if (short.length > 0) lines.push(`without the gateway: ${short.map((one) => `${one} ${before(one)}`).join('; ')}`)
  const works = SCENARIOS.length - short.length
  return { name, worse, summary: worse === 0 ? `ok ${works}/${SCENARIOS.length}` : `worse ${worse}`, lines }
}

const NOT_ACROSS = '- no resumption between two transports'
