import type { ApiClient } from './api-client.ts'
import { ApiUnreadable } from './api-unreadable.ts'
import { itemsOf, type Members, membersOf, textOf } from './kubeconfig.ts'

/** Objects of one page of a list. */
export const PAGE = 500

export interface ApiList {
  readonly items: readonly Members[]
  /** A watch continues here. */
  readonly resourceVersion: string
}

/**
 * Reads all pages of a list. A list whose pages have expired is read again as a whole.
 * @param path with a query that begins with `limit`
 * @returns undefined: there is no such list
 * @throws ApiUnreadable
 */
export async function readPages(client: ApiClient, path: string, accept?: string): Promise<ApiList | undefined> {
  const items: Members[] = []
  let resourceVersion = ''
  for (let token: string | undefined = ''; token !== undefined; ) {
    const page = token === '' ? path : `${path}&continue=${encodeURIComponent(token)}`
    const { status, body } = await client.get(page, { accept })
    if (status === 410) return readPages(client, path.replace(/limit=\d+/, 'limit=0'), accept)
    if (status !== 200) return undefined
    // Kubernetes writes an empty list of metadata as null.
    if (body.items !== null && !Array.isArray(body.items))
      throw new ApiUnreadable(`${client.server}${path} did not return a list`)
    for (const item of itemsOf(body.items)) items.push(membersOf(item))
    const metadata = membersOf(body.metadata)
    token = textOf(metadata.continue)
    resourceVersion = textOf(metadata.resourceVersion) ?? resourceVersion
  }
  return { items, resourceVersion }
}
