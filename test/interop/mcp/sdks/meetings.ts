import type { Transcript } from '../../transcript.ts'
import { type McpBackends, startMcpGateway } from '../mcp-gateway.ts'
import type { PairClient, PairServer, Wire } from './pair.ts'
import { type Endpoint, type Outcomes, SCENARIOS, type Scenario } from './scenarios.ts'

/** The name of the target that is meant, and of one beside it. */
const TARGET = 'main'
const BESIDE = 'beside'

/** Servers that a client meets at a time: more would be too slow for the time limits of clients. */
const AT_A_TIME = 3

/**
 * Lets every client meet every server, directly and through the gateway with one target and with two. What works directly must work
 * through the gateway; so must transports that only the gateway can bring together, as far as both sides can do it on their own.
 */
export async function checkMeetings(
  servers: readonly PairServer[],
  clients: readonly PairClient[],
  transcript: Transcript,
  stops: AsyncDisposableStack,
): Promise<void> {
  const gateway = await startMcpGateway(stops, backendsOf(servers))
  const direct = new DirectOutcomes()
  const eachServer = async (meet: (client: PairClient, server: PairServer) => Promise<void>) => {
    // A server meets one client at a time, since it counts what that client cancels.
    for (const client of clients) {
      const waiting = [...servers]
      const next = async (): Promise<void> => {
        for (let server = waiting.shift(); server !== undefined; server = waiting.shift()) await meet(client, server)
      }
      await Promise.all(Array.from({ length: AT_A_TIME }, next))
    }
  }
  await eachServer((client, server) => direct.ask(client, server))

  const table: Record<string, Record<string, string>> = {}
  await eachServer(async (client, server) => {
    for (const meeting of meetingsOf(client, server, gateway.port)) {
      const { name, wire } = meeting
      const { worse, lines, summary } = await judge(client, meeting, direct.expected(client, server, wire))
      for (const line of lines) console.log(`     ${client.name} - ${name}: ${line}`)
      transcript.check(`${client.name} and ${name}: scenarios that are worse`, worse, 0)
      table[client.name] = { ...table[client.name], [name]: summary }
    }
  })
  console.table(table)
}

/** How clients and servers meet without the gateway. */
class DirectOutcomes {
  readonly #outcomes: { readonly client: PairClient; readonly server: PairServer; readonly outcomes: Outcomes }[] = []

  async ask(client: PairClient, server: PairServer): Promise<void> {
    const path = server.paths[client.wire]
    if (path === undefined) return
    const outcomes = await client.run({ url: `http://127.0.0.1:${server.port}${path}` })
    this.#outcomes.push({ client, server, outcomes })
  }

  /**
   * What must work through the gateway. If the transports differ, that is what the server can do over its own with any client, and with one of the same SDK
   * if there is one. @param wire of the server
   */
  expected(client: PairClient, server: PairServer, wire: Wire): Outcomes {
    const met = this.#outcomes.filter((one) => one.server === server && one.client.wire === wire)
    const own = met.find((one) => one.client === client)
    if (own !== undefined) return own.outcomes
    const ofSdk = met.filter((one) => sdkOf(one.client) === sdkOf(client))
    const among = ofSdk.length === 0 ? met : ofSdk
    const outcomeOf = (scenario: Scenario) => {
      if (scenario === 'resume') return NOT_ACROSS
      const seen = among.map(({ outcomes }) => outcomes[scenario])
      return seen.find((outcome) => outcome === 'ok') ?? seen[0] ?? 'ok'
    }
    return Object.fromEntries(SCENARIOS.map((scenario) => [scenario, outcomeOf(scenario)])) as Outcomes
  }
}

function sdkOf({ name }: PairClient): string {
  return name.slice(0, name.search(/ |$/))
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

/** A client and a transport of a server: how they meet with the gateway. */
interface Meeting {
  readonly name: string
  /** Of the server. */
  readonly wire: Wire
  readonly ways: Readonly<Record<string, Endpoint>>
}

function meetingsOf(client: PairClient, { name, paths }: PairServer, gateway: number): readonly Meeting[] {
  return (Object.keys(paths) as Wire[]).map((wire) => {
    const backend = `${name}-${wire}`
    const suffix = client.wire === 'sse' ? '/sse' : ''
    return {
      name: wire === 'http' ? name : `${name} ${wire}`,
      wire,
      ways: {
        'one target': { url: `http://127.0.0.1:${gateway}/${backend}-one${suffix}` },
        'two targets': { url: `http://127.0.0.1:${gateway}/${backend}-two${suffix}`, target: TARGET },
      },
    }
  })
}

interface Judged {
  readonly worse: number
  readonly summary: string
  readonly lines: readonly string[]
}

async function judge(client: PairClient, { wire, ways }: Meeting, expected: Outcomes): Promise<Judged> {
  const lines: string[] = []
  let worse = 0
  for (const [way, endpoint] of Object.entries(ways)) {
    const lostIn = (seen: Outcomes) =>
      SCENARIOS.filter((one) => expected[one] === 'ok' && seen[one] !== 'ok' && !seen[one].startsWith('-'))
    const first = lostIn(await client.run(endpoint))
    if (first.length === 0) continue
    // What failed only once was busy, not worse.
    const seen = await client.run(endpoint)
    const lost = lostIn(seen).filter((one) => first.includes(one))
    const isStrange = (one: Scenario) => client.wire !== wire && NO_REVISION.test(seen[one])
    worse += lost.filter((one) => !isStrange(one)).length
    for (const [why, scenarios] of Map.groupBy(lost, (one) => seen[one].replace(/"id":[^,}]*,/, ''))) {
      const verdict = scenarios.every(isStrange) ? 'the sides share no revision' : 'worse'
      lines.push(`${verdict} with ${way}: ${scenarios.join(', ')}: ${why}`)
    }
  }
  const short = SCENARIOS.filter((one) => expected[one] !== 'ok')
  if (short.length > 0) lines.push(`without the gateway: ${short.map((one) => `${one} ${expected[one]}`).join('; ')}`)
  const works = SCENARIOS.length - short.length
  return { worse, summary: worse === 0 ? `ok ${works}/${SCENARIOS.length}` : `worse ${worse}`, lines }
}

const NOT_ACROSS = '- no resumption between two transports'

/** The SDK for Java speaks only 2024-11-05 over HTTP+SSE, and not that one over Streamable HTTP. The gateway does not invent a revision. */
const NO_REVISION = /^Unsupported protocol version/
