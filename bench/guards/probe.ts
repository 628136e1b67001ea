import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { bodyOf, STREAMED, WHOLE } from './guarded-gateway.ts'

/**
 * Asks a route at a rate, in a process that does nothing else but answer as the provider of the route. The first message from it is the port of that
 * provider. Each message to it is an order; the answer has the times in milliseconds.
 */
export interface ProbeOrder {
  readonly url: string
  readonly seconds: number
}

const PER_SECOND = 200
const BODY = STREAMED.body.replace('"stream":true', '"stream":false')
const agent = new Agent({ keepAlive: true })

const provider = createServer((incoming, response) => {
  incoming.resume()
  incoming.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(WHOLE))
})
provider.listen(0, '127.0.0.1', () => process.send!((provider.address() as AddressInfo).port))

process.on('message', async ({ url, seconds }: ProbeOrder) => {
  const times: Promise<number>[] = []
  for (let index = 0; index < seconds * PER_SECOND; index++) {
    times.push(askOnce(url))
    await setTimeout(1000 / PER_SECOND)
  }
  process.send!(await Promise.all(times))
})

function askOnce(url: string): Promise<number> {
  const start = performance.now()
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: STREAMED.method, headers: STREAMED.headers, agent }, (response) => {
      bodyOf(response).then(() => resolve(performance.now() - start), reject)
    })
    asked.on('error', reject)
    asked.end(BODY)
  })
}
