import { readFileSync } from 'node:fs'
import { Agent, type RequestOptions, request } from 'node:https'
import { parse } from 'yaml'

/** How to reach the API of a gateway. */
export interface ApiAccess {
  readonly server: string
  readonly options: RequestOptions & { readonly headers: Readonly<Record<string, string>> }
}

export function accessOf(kubeconfig: string): ApiAccess {
  const { clusters, users } = parse(readFileSync(kubeconfig, 'utf8'))
  const ca = Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64')
  const headers = { authorization: `Bearer ${users[0].user.token}` }
  return { server: clusters[0].cluster.server, options: { ca, headers, agent: new Agent({ keepAlive: true }) } }
}

/** Sends a request; resolves when the whole answer is there. @throws Error if it is a refusal */
export function call({ server, options }: ApiAccess, method: string, path: string, body?: object): Promise<void> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const headers = { ...options.headers, 'content-type': type }
  return new Promise((resolve, reject) => {
    const sent = request(`${server}${path}`, { ...options, headers, method }, (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.once('end', () => {
        if (response.statusCode! < 300) resolve()
        else reject(new Error(`${response.statusCode}: ${Buffer.concat(pieces)}`))
      })
    })
    sent.once('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
