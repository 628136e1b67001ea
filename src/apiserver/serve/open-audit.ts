import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ResourceTarget } from '../http/request-target.ts'
import { collectionOf } from '../kinds/collection.ts'
import type { ApiContext } from './api-context.ts'

const READ_METHODS: readonly (string | undefined)[] = ['GET', 'HEAD', 'OPTIONS']

/** What is known about a write while it is answered. */
export interface OpenAudit {
  /** The object; of a created one, the name that it got. */
  name: string | undefined
}

/** Tells of a request that can change objects when it is over, whatever its answer. */
export function openAudit(
  { audit, state }: ApiContext,
  { method = '', headers }: IncomingMessage,
  response: ServerResponse,
  target: ResourceTarget,
  query: URLSearchParams,
): OpenAudit {
  const open: OpenAudit = { name: target.name }
  const { group, version, plural, namespace, subresource } = target
  // A question changes nothing.
  if (READ_METHODS.includes(method) || state.kinds.find(group, version, plural)?.review !== undefined) return open
  response.once('close', () => {
    // The client left before all of its request was there: nothing was written.
    if (!response.headersSent) return
    const collection = collectionOf({ group, plural })
    audit({
      method,
      target: subresource === undefined ? collection : `${collection}/${subresource}`,
      namespace,
      name: open.name,
      userAgent: headers['user-agent'] ?? '',
      status: response.statusCode,
      dryRun: query.has('dryRun'),
    })
  })
  return open
}
