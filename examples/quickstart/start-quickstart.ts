import { startEcho } from '#examples/upstreams/echo.ts'
import { startUpstreams, USUAL_PORTS } from '#examples/upstreams/run.ts'
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

/** A gateway that runs already, such as in a cluster. Its metrics and the servers behind it have their usual ports on the loopback address. */
const RUNNING = process.env.QUICKSTART_BASE

/** Starts everything, for tests. What was started is stopped again when a later start fails. */
export async function startQuickstart(): Promise<Quickstart> {
  return RUNNING === undefined ? startHere() : alreadyRunning(RUNNING)
}

async function startHere(): Promise<Quickstart> {
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
    upstreamUrl: (name) => known(urls.get(name), name),
    close: () => kept.disposeAsync(),
  }
}

function alreadyRunning(base: string): Quickstart {
  const local = (port: number) => `http://127.0.0.1:${port}`
  return {
    base,
    metricsUrl: `${local(15020)}/metrics`,
    upstreamUrl: (name) => local(known(USUAL_PORTS.get(name), name)),
    close: async () => {},
  }
}

function known<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`no server ${name} in the quickstart`)
  return value
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const holder = await startEcho({ port: 0 })
  await holder.close()
  return holder.port
}
