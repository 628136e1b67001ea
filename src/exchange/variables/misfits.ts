import { parseIpAddress } from '#base/ip-address.ts'
import type { Misfit } from '#cel/index.ts'
import { matchedAuthority } from '#net/http/authority-form.ts'
import { matchedPathOf } from '#net/http/path-form.ts'

// Texts that a variable never has, so that a rule with one of them never applies.

/** The path of a request in its matched form (decision A-51); `*` is that of OPTIONS. */
export function pathMisfit(text: string, part: 'whole' | 'prefix'): Misfit | undefined {
  if (text.includes('?')) return { why: 'it has no query', write: 'request.pathAndQuery for a path with its query' }
  const misfit = targetMisfit(text)
  if (misfit !== undefined || part === 'prefix') return misfit
  const matched = matchedPathOf(text)
  return matched === text ? undefined : { why: 'it is in normalized form', instead: matched }
}

export function targetMisfit(text: string): Misfit | undefined {
  if (text === '' || text === '*' || text.startsWith('/')) return undefined
  return { why: 'it begins with a slash', instead: `/${text}` }
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE'])

/** Methods are case-sensitive (RFC 9110, 9.1). */
export function methodMisfit(text: string): Misfit | undefined {
  const upper = text.toUpperCase()
  if (upper === text || !METHODS.has(upper)) return undefined
  return { why: 'methods are case-sensitive, and clients send upper case', instead: upper }
}

/** The authority of a request in its matched form (decision A-136). */
export function hostMisfit(text: string, part: 'whole' | 'prefix'): Misfit | undefined {
  if (text.startsWith('*')) return { why: 'it has no wildcards', write: 'request.host.endsWith(".example.com")' }
  const matched = part === 'whole' && text !== '' ? matchedAuthority(text) : text.toLowerCase()
  if (matched === text) return undefined
  return { why: 'it is in lower case, without a default port or a dot at the end', instead: matched }
}

export function schemeMisfit(text: string): Misfit | undefined {
  const lower = text.toLowerCase()
  return lower === text ? undefined : { why: 'it is in lower case', instead: lower }
}

/** @returns the check for a variable with the text of an address */
export function addressMisfit(path: string): (text: string, part: 'whole' | 'prefix') => Misfit | undefined {
  return (text, part) => {
    if (part === 'prefix' || text === '' || parseIpAddress(text) !== undefined) return undefined
    const [address = '', length] = text.split('/')
    if (length === undefined || parseIpAddress(address) === undefined) return { why: 'it is an IP address' }
    return { why: 'it is one address, not a network', write: `cidr(${JSON.stringify(text)}).containsIP(${path})` }
  }
}
