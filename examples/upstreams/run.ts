import { startA2a } from './a2a.ts'
import { startEcho } from './echo.ts'
import { startIdentity } from './identity.ts'
import type { Upstream, UpstreamOptions } from './listen.ts'
import { startLlm } from './llm.ts'
import { startNotes, startWeather } from './mcp.ts'

interface Entry extends Required<UpstreamOptions> {
  readonly kind: string
  readonly start: (options: UpstreamOptions) => Promise<Upstream>
}

/** Everything that stands behind the gateway of the quickstart, with the ports that its objects name. */
const ENTRIES: readonly Entry[] = [
  { kind: 'echo', name: 'blue', port: 9101, start: startEcho },
  { kind: 'echo', name: 'green', port: 9102, start: startEcho },
  { kind: 'LLM', name: 'alpha', port: 9111, start: startLlm },
  { kind: 'LLM', name: 'beta', port: 9112, start: startLlm },
  { kind: 'MCP', name: 'weather', port: 9121, start: startWeather },
  { kind: 'MCP', name: 'notes', port: 9122, start: startNotes },
  { kind: 'A2A', name: 'agent', port: 9131, start: startA2a },
  { kind: 'OpenID', name: 'identity', port: 9141, start: startIdentity },
]

/** The ports that the objects of the quickstart name, by the names of the servers. */
export const USUAL_PORTS: ReadonlyMap<string, number> = new Map(ENTRIES.map(({ name, port }) => [name, port]))

/** The running servers of the quickstart. */
export interface Upstreams {
  /** In the order of their ports. */
  readonly list: readonly (Upstream & { readonly kind: string; readonly usualPort: number })[]
  close(): Promise<void>
}

/**
 * Starts all example servers, on their usual ports or on any free ones.
 *
 * @throws Error with one line for each port that is in use; the other servers are stopped again.
 */
export async function startUpstreams(ports: 'usual' | 'free' = 'usual'): Promise<Upstreams> {
  const results = await Promise.allSettled(
    ENTRIES.map(async ({ kind, name, port: usualPort, start }) => {
      const upstream = await start({ name, port: ports === 'usual' ? usualPort : 0 })
      return { ...upstream, kind, usualPort }
    }),
  )
  const list = results.filter((result) => result.status === 'fulfilled').map((result) => result.value)
  const close = async () => void (await Promise.all(list.map((upstream) => upstream.close())))
  const failures = results.filter((result) => result.status === 'rejected')
  if (failures.length === 0) return { list, close }

  await close()
  throw new Error(failures.map(({ reason }) => (reason instanceof Error ? reason.message : String(reason))).join('\n'))
}

async function runAll(): Promise<void> {
  try {
    const upstreams = await startUpstreams()
    for (const { kind, name, url } of upstreams.list) console.log(`${url}  ${kind} ${name}`)
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => upstreams.close())
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}

if (import.meta.main) await runAll()
