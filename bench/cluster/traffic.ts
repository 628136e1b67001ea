import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** Between two requests, in ms. */
const PAUSE_MS = 1
const PATIENCE_MS = 30_000

/** A client of the proxy, on one connection. */
export class Traffic implements Disposable {
  readonly #port: number
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })

  constructor(port: number) {
    this.#port = port
  }

  /** Asks until a redirect leads to a path. @returns when its answer was there (`performance.now`) */
  async firstAnswer(path: string, place: string): Promise<number> {
    const deadline = performance.now() + PATIENCE_MS
    let location = ''
    while (performance.now() < deadline) {
      location = await this.#location(path)
      if (location.endsWith(place)) return performance.now()
      await sleep(PAUSE_MS)
    }
    throw new Error(`${path} redirects to ${location}, not to ${place}`)
  }

  #location(path: string): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const sent = request({ host: '127.0.0.1', port: this.#port, path, agent: this.#agent }, (response) => {
      response.resume()
      response.once('end', () => resolve(response.headers.location ?? ''))
    })
    sent.once('error', reject)
    sent.end()
    return promise
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }
}
