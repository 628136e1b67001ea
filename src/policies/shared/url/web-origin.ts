import { withoutPort } from '#net/http/field-syntax.ts'

/** A web origin: scheme, host in lower case, and port, which defaults to that of the scheme (RFC 6454, 4). */
export interface WebOrigin {
  readonly scheme: 'http' | 'https'
  readonly host: string
  readonly port: number
}

export const DEFAULT_PORT = { http: 80, https: 443 } as const

/** `*` is for patterns. */
const ORIGIN = /^(https?):\/\/(\[[0-9a-f:.]+\]|[-._*0-9a-z]+)(?::(\d{1,5}))?$/

/** @returns undefined for `null`, other schemes and texts that are not exactly an origin */
export function parseOrigin(text: string): WebOrigin | undefined {
  const match = ORIGIN.exec(text.toLowerCase())
  if (match === null) return undefined
  const [, scheme, host, port] = match as unknown as [string, 'http' | 'https', string, string | undefined]
  return { scheme, host, port: port === undefined ? DEFAULT_PORT[scheme] : Number(port) }
}

/** Host in lower case and port of an authority; the port is undefined if there is none. */
export function splitAuthority(authority: string): { readonly host: string; readonly port: number | undefined } {
  const host = withoutPort(authority)
  const port = host === authority ? undefined : Number(authority.slice(host.length + 1))
  return { host: host.toLowerCase(), port }
}
