import { startA2a } from './a2a.ts'
import { startEcho } from './echo.ts'
import type { Upstream, UpstreamOptions } from './listen.ts'
import { startLlm } from './llm.ts'
import { startNotes, startWeather } from './mcp.ts'

/** What `gatewright example-server` can run, by kind. */
const STARTERS: Readonly<Record<string, (options: UpstreamOptions) => Promise<Upstream>>> = {
  echo: startEcho,
  llm: startLlm,
  weather: startWeather,
  notes: startNotes,
  agent: startA2a,
}

/**
 * Runs one example server until SIGINT or SIGTERM.
 *
 * @param name told in its answers; default: its kind
 * @throws Error with one line when there is no such kind, or the port is in use
 */
export async function runOne(kind: string, port: number, name = kind): Promise<void> {
  const start = STARTERS[kind]
  if (start === undefined) {
    throw new Error(`there is no example server ${kind}; there are ${Object.keys(STARTERS).join(', ')}`)
  }
  const upstream = await start({ port, name })
  console.log(`${name} listens on ${upstream.url}`)
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  await upstream.close()
}
