import type { TString } from 'typebox'
import { describePatternFault } from '#base/pattern.ts'
import { annotate } from './build.ts'
import type { ScalarRefusal } from './node.ts'
import { formattedText } from './scalars.ts'

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const CONTROLS = /[\p{Cc}]/u
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const NO_CONTROLS = /^[^\x00-\x1f\x7f-\x9f]*$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const NO_SPACES = /^[^\x00-\x20\x7f-\xa0]*$/
const SPACE_OR_CONTROL = /[\p{Cc}\p{Z}]/u
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?=\/|$)/i
const AUTHORITY = /^(?:[-._0-9A-Za-z]+|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?$/
/** A text whose `authorityOf` matches `AUTHORITY`. */
const ENDPOINT =
  /^(?:[a-zA-Z][a-zA-Z0-9+.-]*:\/\/)?(?:[-._0-9A-Za-z]+|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?(?:[/?#][\s\S]*)?$/
const HOST_PART = /^[A-Za-z0-9](?:[-A-Za-z0-9.]*[A-Za-z0-9])?$/

/** Text that a header can contain (RFC 9110, 5.5). */
export const headerText = (max: number): TString =>
  formattedText({ min: 1, max, pattern: NO_CONTROLS }, (text) =>
    CONTROLS.test(text) ? { code: 'header-invalid', message: 'must not contain control characters' } : undefined,
  )

/** The name of a cookie, which is a token (RFC 6265, 4.1.1). */
export const cookieName = (max = 256): TString =>
  formattedText({ min: 1, max, pattern: TOKEN }, (text) => {
    if (TOKEN.test(text)) return undefined
    const message = 'must be a cookie name: letters, digits and the other token characters, no spaces'
    return { code: 'invalid-name', message }
  })

/** A regular expression in RE2 syntax. */
export const patternText = (bounds: { readonly min: number; readonly max: number }): TString =>
  formattedText(bounds, checkPattern)

export function checkPattern(text: string): ScalarRefusal | undefined {
  const fault = describePatternFault(text)
  if (fault === undefined) return undefined
  return { code: 'invalid-pattern', message: `must be a regular expression in RE2 syntax, but ${fault}` }
}

/** A request path with an optional query; use adds a missing slash at its start. */
export const pathText = (max: number): TString =>
  annotate(formattedText({ min: 1, max, pattern: NO_SPACES }, checkPath), {
    onServer: {
      rule: "!('/' + self).split('?')[0].matches('/(?i:[.]|%2e){1,2}(/|$)')",
      message: 'must not contain a dot segment',
    },
  })

function checkPath(text: string): ScalarRefusal | undefined {
  if (SPACE_OR_CONTROL.test(text)) {
    return { code: 'invalid-path', message: 'must not contain spaces or control characters' }
  }
  const [path = ''] = `/${text}`.split('?', 1)
  return DOT_SEGMENT.test(path) ? { code: 'invalid-path', message: 'must not contain a dot segment' } : undefined
}

/** A URL of which only host and port are used. */
export const endpointText = (): TString =>
  formattedText({ min: 1, max: 256, pattern: ENDPOINT }, (text) => {
    if (AUTHORITY.test(authorityOf(text))) return undefined
    return { code: 'invalid-host', message: 'must be a host name with an optional port, such as "name.example.com"' }
  })

/** The authority of an endpoint: without scheme, path and query. */
export function authorityOf(endpoint: string): string {
  return endpoint.replace(/^[a-zA-Z][a-zA-Z0-9+.-]*:\/\//, '').replace(/[/?#].*$/s, '')
}

/** A part of a host name. */
export const hostPart = (): TString =>
  formattedText({ min: 1, max: 256, pattern: HOST_PART }, (text) => {
    if (HOST_PART.test(text)) return undefined
    return { code: 'invalid-host', message: 'must be a part of a host name: letters, digits and "-"' }
  })
