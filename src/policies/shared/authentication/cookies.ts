import { trimSpace } from '#base/byte-text.ts'
import type { Head } from '#net/http/head.ts'

/** Values of the cookies with a name in the given Cookie fields, in order (RFC 6265, 4.2). */
export function cookieValues(fields: readonly string[], name: string): string[] {
  const values: string[] = []
  for (const field of fields) {
    for (const pair of field.split(';')) {
      if (nameOf(pair) === name) values.push(valueIn(pair))
    }
  }
  return values
}

/** Removes all cookies with a name, or those that also have a value; the others are joined in one field. */
export function removeCookie(head: Head, name: string, value?: string): void {
  const pairs = pairsOf(head)
  const kept = pairs.filter((pair) => nameOf(pair) !== name || (value !== undefined && valueIn(pair) !== value))
  if (kept.length < pairs.length) writePairs(head, kept)
}

/** Sets a cookie, replacing all with the same name. */
export function setCookie(head: Head, name: string, value: string): void {
  writePairs(head, [...pairsOf(head).filter((pair) => nameOf(pair) !== name), `${name}=${value}`])
}

function pairsOf(head: Head): string[] {
  return head
    .getAll('cookie')
    .flatMap((field) => field.split(';'))
    .map(trimSpace)
    .filter((pair) => pair !== '')
}

function nameOf(pair: string): string | undefined {
  const equals = pair.indexOf('=')
  return equals === -1 ? undefined : trimSpace(pair.slice(0, equals))
}

function valueIn(pair: string): string {
  return trimSpace(pair.slice(pair.indexOf('=') + 1))
}

function writePairs(head: Head, pairs: readonly string[]): void {
  if (pairs.length === 0) head.remove('cookie')
  else head.set('cookie', pairs.join('; '))
}
