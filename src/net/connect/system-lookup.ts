import dns from 'node:dns'
import fs from 'node:fs'
import path from 'node:path'
import { clock } from '#base/clock.ts'
import { NO_SUCH_NAME } from '../connect-failure.ts'
import type { Lookup, MissingFamily } from './names.ts'
import { parseHosts, parseSearch, type Search, searched } from './resolver-files.ts'

/** A query to a DNS server, as `dns.Resolver` makes it. */
type Query = (
  name: string,
  options: { ttl: true },
  done: (error: NodeJS.ErrnoException | null, records: readonly dns.RecordWithTtl[]) => void,
) => void

/** Sources of a lookup. */
export interface NameSources {
  /** The addresses of a name in the hosts file; undefined: it is not listed. */
  hosts(name: string): readonly string[] | undefined
  /** Search domains of the system. */
  search(): Search
  readonly resolve4: Query
  readonly resolve6: Query
  /** The resolver of the system, which also asks sources other than DNS. It gives no TTL. */
  readonly system: Lookup
}

/** Time for the answer of the second family after the addresses of the first (RFC 8305, 3). */
const RESOLUTION_DELAY_MS = 50

/**
 * Resolves names as the system does, but with the TTL of DNS records: the hosts file, then DNS with the search domains, then the system's
 * resolver, for names from other sources (docs/decisions/0215-names.md).
 */
export function createLookup(sources: NameSources): Lookup {
  return (host, done) => {
    const listed = sources.hosts(host.toLowerCase())
    if (listed !== undefined) return done(null, listed)
    const names = searched(host, sources.search())
    const ask = (at: number): void => {
      const name = names[at]
      if (name === undefined) return sources.system(host, done)
      query(sources, name, (answer) => {
        if (answer.kind === 'found') done(null, answer.addresses, answer.ttlMs, answer.missing)
        else if (answer.kind === 'absent') ask(at + 1)
        else if (answer.error.code === 'ECONNREFUSED') sources.system(host, done)
        // A later name of the search list would be another server.
        else done(answer.error, [])
      })
    }
    ask(0)
  }
}

interface Found {
  readonly kind: 'found'
  readonly addresses: readonly string[]
  readonly ttlMs: number
  readonly missing?: MissingFamily
}
type Answer = Found | { readonly kind: 'absent' } | { readonly kind: 'failed'; readonly error: NodeJS.ErrnoException }

/**
 * Asks for both families at once. IPv6 addresses come first; connecting decides between the families (RFC 8305).
 * @param done called twice if the second family is late
 */
function query({ resolve4, resolve6 }: NameSources, name: string, done: (answer: Answer) => void): void {
  let six: Answer | undefined
  let four: Answer | undefined
  let delay: { cancel(): void } | undefined
  const check = () => {
    if (six !== undefined && four !== undefined) {
      delay?.cancel()
      return done(joined(six, four))
    }
    const first = six ?? four!
    if (first.kind === 'found') delay = clock.after(RESOLUTION_DELAY_MS, () => done({ ...first, missing: 'late' }))
  }
  resolve6(name, { ttl: true }, (error, records) => {
    six = answerOf(error, records)
    check()
  })
  resolve4(name, { ttl: true }, (error, records) => {
    four = answerOf(error, records)
    check()
  })
}

const ABSENT: Answer = { kind: 'absent' }

function answerOf(error: NodeJS.ErrnoException | null, records: readonly dns.RecordWithTtl[]): Answer {
  if (error !== null) return NO_SUCH_NAME.has(error.code ?? '') ? ABSENT : { kind: 'failed', error }
  if (records.length === 0) return ABSENT
  const addresses = [...new Set(records.map(({ address }) => address))]
  return { kind: 'found', addresses, ttlMs: 1000 * Math.min(...records.map(({ ttl }) => ttl)) }
}

/** One family is sufficient: some servers fail for the other. */
function joined(six: Answer, four: Answer): Answer {
  if (six.kind === 'found' && four.kind === 'found') {
    return { ...six, addresses: [...six.addresses, ...four.addresses], ttlMs: Math.min(six.ttlMs, four.ttlMs) }
  }
  if (six.kind === 'found') return alone(six, four)
  if (four.kind === 'found') return alone(four, six)
  return four.kind === 'absent' ? six : four
}

function alone(found: Found, other: Answer): Answer {
  return other.kind === 'failed' ? { ...found, missing: 'failed' } : found
}

/** A small file of the system, parsed again when it has changed. */
class SystemFile<Content> {
  readonly #path: string
  readonly #parse: (text: string) => Content
  #version = ''
  #content: Content

  constructor(path: string, parse: (text: string) => Content) {
    this.#path = path
    this.#parse = parse
    this.#content = parse('')
  }

  /** Changes when the file does. */
  get version(): string {
    return this.#version
  }

  /** The content; that of an empty file if there is none. */
  read(): Content {
    const stats = fs.statSync(this.#path, { throwIfNoEntry: false })
    const version = stats === undefined ? '' : `${stats.mtimeMs} ${stats.size} ${stats.ino}`
    if (version === this.#version) return this.#content
    this.#version = version
    this.#content = this.#parse(stats === undefined ? '' : readText(this.#path))
    return this.#content
  }
}

function readText(path: string): string {
  try {
    return fs.readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Of one query; `backend.tcp.connectTimeout` also bounds it. */
const QUERY_TIMEOUT_MS = 2000
const QUERY_TRIES = 2

/** Paths of the system's files. */
export interface ResolverFiles {
  readonly hosts: string
  readonly settings: string
}

const SYSTEM_FILES: ResolverFiles = {
  hosts:
    process.platform === 'win32'
      ? path.join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts')
      : '/etc/hosts',
  settings: '/etc/resolv.conf',
}

/** The sources of this system. */
export function systemSources(files: ResolverFiles = SYSTEM_FILES): NameSources {
  const hosts = new SystemFile(files.hosts, parseHosts)
  const search = new SystemFile(files.settings, parseSearch)
  let resolver: dns.Resolver | undefined
  let settings: string | undefined
  /** A resolver reads the servers of the system when it is created. */
  const current = () => {
    if (resolver === undefined || settings !== search.version) {
      resolver = new dns.Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES })
      settings = search.version
    }
    return resolver
  }
  return {
    hosts: (name) => hosts.read().get(name),
    search: () => search.read(),
    resolve4: (name, options, done) => current().resolve4(name, options, done),
    resolve6: (name, options, done) => current().resolve6(name, options, done),
    system: (host, done) => {
      dns.lookup(host, { all: true, order: 'verbatim' }, (error, found) => {
        done(error, error === null ? found.map(({ address }) => address) : [])
      })
    },
  }
}
