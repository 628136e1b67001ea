import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { parse } from 'yaml'
import { parseJson } from '#base/parse-json.ts'

export interface ApiCall {
  readonly method?: string
  readonly body?: unknown
  /** Media type of the body; by default JSON, or a merge patch. */
  readonly type?: string
  /** By default that of the kubeconfig; undefined: none. */
  readonly token?: string | undefined
}

export interface ApiClientAnswer {
  readonly status: number | undefined
  // biome-ignore lint/suspicious/noExplicitAny: objects of all kinds
  readonly body: any
  readonly warning: unknown
  readonly challenge: string | undefined
}

/** A client of a running gateway, with the kubeconfig of its state folder. */
export function apiClient(state: string): (path: string, call?: ApiCall) => Promise<ApiClientAnswer> {
  const { clusters, users } = parse(readFileSync(join(state, 'kubeconfig'), 'utf8'))
  const ca = Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64')
  return (path, { method = 'GET', body, type, ...more } = {}) => {
    const token = Object.hasOwn(more, 'token') ? more.token : users[0].user.token
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const headers = {
      'content-type': type ?? (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    }
    return new Promise((resolve, reject) => {
      const call = request(
        `${clusters[0].cluster.server}${path}`,
        { method, ca, headers, agent: false },
        async (answer) => {
          const read = Buffer.concat(await answer.toArray()).toString()
          const { warning, 'www-authenticate': challenge } = answer.headers
          resolve({ status: answer.statusCode, body: parseJson(read), warning, challenge })
        },
      )
      call.once('error', reject)
      call.end(text)
    })
  }
}
