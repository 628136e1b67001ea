import type { Head } from '#net/http/head.ts'

/** Clients of the messages API send its version; the list of models has the same path in both interfaces. */
export function isOfMessagesClient(request: Head): boolean {
  return request.has('anthropic-version')
}
