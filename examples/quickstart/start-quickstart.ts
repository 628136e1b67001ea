import { startEcho } from '#examples/upstreams/echo.ts'
import { startUpstreams } from '#examples/upstreams/run.ts'
import { startGateway } from '#test/support/gateway.ts'
import { copyWithPorts } from './copy-with-ports.ts'

/** The quickstart as its README tells it, on free ports: the same objects, real servers behind, real clients in front. */
export interface Quickstart {
  /** Where the gateway answers, without a trailing slash. */
  readonly base: string
  readonly metricsUrl: string
  /** The address of a server behind the gateway. */
  upstreamUrl(name: string): string
  close(): Promise<void>
}

/** Starts everything, for tests. What was started is stopped again when a later start fails. */
export async function startQuickstart(): Promise<Quickstart> {
  await using stops = new AsyncDisposableStack()
  const upstreams = await startUpstreams('free')
  stops.defer(upstreams.close)

  const listenerPort = await freePort()
  const ports = new Map(upstreams.list.map(({ usualPort, port }) => [usualPort, port]))
  const objects = await copyWithPorts(import.meta.dirname, ports.set(8080, listenerPort))
  stops.defer(objects.remove)

  const gateway = await startGateway({ files: [objects.folder] })
  stops.defer(async () => {
    await gateway.close()
  })

  const urls = new Map(upstreams.list.map(({ name, url }) => [name, url]))
  const kept = stops.move()
  return {
    base: gateway.url(listenerPort),
    metricsUrl: `${gateway.url(15020)}/metrics`,
    upstreamUrl: (name) => {
      const url = urls.get(name)
      if (url === undefined) throw new Error(`no server ${name} in the quickstart`)
      return url
    },
    close: () => kept.disposeAsync(),
  }
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const holder = await startEcho({ port: 0 })
  await holder.close()
  return holder.port
}
