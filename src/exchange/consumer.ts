import type { Identity } from './exchange.ts'

/** The client that a policy has identified: the subject of its token, the entry of its API key, or its user name. */
export function consumerOf({ jwt, apiKey, basicAuth }: Identity): string | undefined {
  const subject = jwt?.claims.sub
  return typeof subject === 'string' ? subject : (apiKey?.entry ?? basicAuth?.username)
}
