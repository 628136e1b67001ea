import type { ApiAnswer, ApiClient } from '../api-client.ts'
import { ApiUnreadable } from '../api-unreadable.ts'
import type { Members } from '../kubeconfig.ts'
import { PAGE, readPages } from '../read-pages.ts'

/** What was read, or why it could not be. */
export type Reading<T> = { readonly value: T } | { readonly why: string }

/** Reads what its user may read. A refusal is a result, because most users may not read all of a cluster. */
export class ClusterReader {
  readonly client: ApiClient

  constructor(client: ApiClient) {
    this.client = client
  }

  /** Reads an object. @returns the value undefined: there is none */
  async object(path: string): Promise<Reading<Members | undefined>> {
    return attempt(async () => {
      const { status, body } = await this.client.get(path)
      return status === 200 ? body : undefined
    })
  }

  /** Reads a list. @param path may have a query @returns the value undefined: there is no such list */
  async list(path: string): Promise<Reading<readonly Members[] | undefined>> {
    const [place = '', query] = path.split('?')
    const pages = `${place}?limit=${PAGE}${query === undefined ? '' : `&${query}`}`
    return attempt(async () => (await readPages(this.client, pages))?.items)
  }

  /** Asks a question by creating an object that is not stored. */
  async ask(path: string, question: object): Promise<Reading<ApiAnswer>> {
    return attempt(() => this.client.create(path, question))
  }
}

/** @throws what is not a refusal */
export async function attempt<T>(read: () => Promise<T>): Promise<Reading<T>> {
  try {
    return { value: await read() }
  } catch (error) {
    if (!(error instanceof ApiUnreadable)) throw error
    return { why: error.said ?? error.message }
  }
}

/** Reads a list in some namespaces, or in all. @returns the value undefined: there is no such list */
export async function listIn(
  reader: ClusterReader,
  namespaces: readonly string[],
  path: (namespace: string | undefined) => string,
): Promise<Reading<readonly Members[] | undefined>> {
  const places = namespaces.length === 0 ? [undefined] : namespaces
  const lists = await Promise.all(places.map((place) => reader.list(path(place))))
  const found: Members[] = []
  for (const list of lists) {
    if ('why' in list || list.value === undefined) return list
    found.push(...list.value)
  }
  return { value: found }
}
