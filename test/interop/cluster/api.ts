import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'

/** What the parts of the cluster that are ours use of its API. */
export interface Api {
  /** @returns the body of the response */
  get(path: string): Promise<string>
  list<T>(path: string): Promise<readonly T[]>
  /** Sends a JSON merge patch. */
  patch(path: string, body: unknown): Promise<void>
}

/** @param folder with the certificates of the cluster */
export function connectApi(server: string, folder: string): Api {
  const read = (name: string) => readFileSync(join(folder, name))
  const tls = { ca: read('ca.crt'), cert: read('admin.crt'), key: read('admin.key') }
  const call = (method: string, path: string, body?: unknown): Promise<string> =>
    new Promise((resolve, reject) => {
      const headers = body === undefined ? {} : { 'content-type': 'application/merge-patch+json' }
      const asked = request(new URL(path, server), { ...tls, method, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (piece: string) => (text += piece))
        response.on('end', () => (response.statusCode! < 300 ? resolve(text) : reject(new Error(`${path}: ${text}`))))
      })
      asked.on('error', reject)
      asked.end(body === undefined ? undefined : JSON.stringify(body))
    })
  return {
    get: (path) => call('GET', path),
    list: async <T>(path: string) => (JSON.parse(await call('GET', path)) as { items: readonly T[] }).items,
    patch: async (path, body) => void (await call('PATCH', path, body)),
  }
}
