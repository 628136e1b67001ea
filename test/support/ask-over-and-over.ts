import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

/** Between two requests of a client, so that the load leaves the machine to other tests. */
const PAUSE_MS = 5

/** A client of a gateway that stops, so far. */
export interface Client {
  readonly statuses: number[]
  /** Of connections, by the gateway. */
  closes: number
}

/**
 * Asks again and again, until told to stop.
 * @param keepAlive on a connection that stays open; otherwise on a new one each time
 */
export async function askOverAndOver(
  url: string,
  isOver: () => boolean,
  client: Client,
  keepAlive = true,
): Promise<void> {
  const agent = new http.Agent({ keepAlive, maxSockets: 1 })
  while (!isOver()) {
    const request = http.get(url, { agent })
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    await text(response)
    client.statuses.push(response.statusCode ?? 0)
    if (response.headers.connection === 'close') client.closes++
    await sleep(PAUSE_MS)
  }
  agent.destroy()
}

/** The same over HTTP/2: opens a new session after a GOAWAY, and repeats requests that were not served. */
export async function askOverSessions(url: string, isOver: () => boolean, client: Client): Promise<void> {
  while (!isOver()) {
    const session = http2.connect(url)
    let ended = false
    session.on('goaway', () => {
      ended = true
    })
    session.on('error', () => {})
    while (!isOver() && !ended && !session.closed) {
      const stream = session.request({ ':path': '/' })
      const status = await new Promise<number | 'unserved'>((resolve, reject) => {
        stream.on('response', (headers) => resolve(headers[':status'] ?? 0))
        stream.on('error', (error) =>
          stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM ? resolve('unserved') : reject(error),
        )
      })
      if (status === 'unserved') break
      await text(stream)
      client.statuses.push(status)
      await sleep(PAUSE_MS)
    }
    if (ended) client.closes++
    session.destroy()
  }
}
