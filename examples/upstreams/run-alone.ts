import { parseArgs } from 'node:util'
import type { Upstream, UpstreamOptions } from './listen.ts'

/** Runs one example server by itself: `node_modules/.bin/node examples/upstreams/echo.ts --port 9101 --name blue`, until Ctrl-C. */
export async function runAlone(
  start: (options: UpstreamOptions) => Promise<Upstream>,
  defaults: Required<UpstreamOptions>,
): Promise<void> {
  const { values } = parseArgs({ options: { port: { type: 'string' }, name: { type: 'string' } } })
  const port = values.port === undefined ? defaults.port : Number(values.port)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) return fail(`--port ${values.port} is not a port number`)
  try {
    const upstream = await start({ port, name: values.name ?? defaults.name })
    console.log(`${upstream.name} listens on ${upstream.url}`)
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => upstream.close())
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error))
  }
}

function fail(message: string): void {
  console.error(message)
  process.exitCode = 1
}
