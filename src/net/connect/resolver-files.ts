import net from 'node:net'

/** How the system completes names (resolv.conf(5)). */
export interface Search {
  readonly domains: readonly string[]
  /** Names with at least that many dots are asked for as they are first. */
  readonly ndots: number
}

const MAX_NDOTS = 15

/** Addresses by lower-case name (hosts(5)). */
export function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const hosts = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (net.isIP(address) === 0) continue
    for (const name of names) {
      const key = name.toLowerCase()
      const known = hosts.get(key)
      if (known === undefined) hosts.set(key, [address])
      else if (!known.includes(address)) known.push(address)
    }
  }
  return hosts
}

/** The last `search` or `domain` line counts (resolv.conf(5)). */
export function parseSearch(text: string): Search {
  let domains: readonly string[] = []
  let ndots = 1
  for (const line of text.split('\n')) {
    const [keyword, ...words] = line.trim().split(/\s+/)
    if (keyword === 'search' || keyword === 'domain') domains = words.map((domain) => domain.replace(/\.$/, ''))
    else if (keyword === 'options') ndots = ndotsOf(words) ?? ndots
  }
  return { domains: domains.filter((domain) => domain !== ''), ndots }
}

function ndotsOf(options: readonly string[]): number | undefined {
  const value = options.findLast((option) => /^ndots:\d{1,3}$/.test(option))?.slice('ndots:'.length)
  return value === undefined ? undefined : Math.min(Number(value), MAX_NDOTS)
}

/** The absolute names to ask DNS for, in order. None for `localhost`, which is not a DNS name (RFC 6761, 6.3). */
export function searched(host: string, { domains, ndots }: Search): readonly string[] {
  if (/(?:^|\.)localhost\.?$/i.test(host)) return []
  if (host.endsWith('.')) return [host.slice(0, -1)]
  const completed = domains.map((domain) => `${host}.${domain}`)
  const dots = host.split('.').length - 1
  return dots >= ndots ? [host, ...completed] : [...completed, host]
}
