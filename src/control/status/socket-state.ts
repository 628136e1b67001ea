import type { Binding } from '#plan/binding.ts'

/** What a data plane says about a socket. `proxy`: its name; empty: it is the one of this process. */
export type SocketReport = Binding & { readonly proxy: string }

/** The state of a socket at all data planes: it has failed if one of them failed, and is bound if one of them has bound it. Undefined: not known. */
export function socketState(reports: readonly SocketReport[]): Binding | undefined {
  const failed = reports.filter((report) => report.state === 'failed')
  const [first] = failed
  if (first === undefined) return reports.length === 0 ? undefined : { state: 'bound' }
  const messages = Map.groupBy(failed, ({ message }) => message)
  const lines = [...messages].map(([message, alike]) => `${message}${atProxies(alike)}`)
  return { state: 'failed', reason: first.reason, message: lines.join('; ') }
}

/** Names of proxies in a message; the metrics have the number of all. */
const MAX_NAMED = 3

/** ` (proxies default/a, default/b)`; nothing for the data plane of this process. */
export function atProxies(reports: readonly { readonly proxy: string }[]): string {
  const names = [...new Set(reports.map(({ proxy }) => proxy))].filter((name) => name !== '').sort()
  if (names.length === 0) return ''
  const named = names.slice(0, MAX_NAMED).join(', ')
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
  return ` (${names.length === 1 ? 'proxy' : 'proxies'} ${named}${more})`
}
