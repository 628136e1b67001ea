import { RE2JS } from 're2js'
import { CelError, TOO_LARGE } from '../error.ts'
import { define, type Implementation, type Overload, type Prepare } from '../overload.ts'
import type { Result } from '../value.ts'
import { MAX_TEXT } from './text-functions.ts'

/** Patterns that are not constant are kept for the next evaluation. */
const cache = new Map<string, RE2JS | CelError>()
const MAX_CACHED = 200
/** A longer pattern can only be an accident or an attack: compiled programs grow with it. */
const MAX_PATTERN = 4096

/** RE2 syntax, linear time. @returns an error for a pattern that RE2 refuses */
function compilePattern(pattern: string): RE2JS | CelError {
  if (pattern.length > MAX_PATTERN) return new CelError('limit', 'regular expression is too long')
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    return new CelError('invalid', `regular expression: ${error instanceof Error ? error.message : 'invalid'}`)
  }
}

function cachedPattern(pattern: string): RE2JS | CelError {
  const known = cache.get(pattern)
  if (known !== undefined) return known
  if (cache.size >= MAX_CACHED) cache.clear()
  const compiled = compilePattern(pattern)
  cache.set(pattern, compiled)
  return compiled
}

const prepareMatches: Prepare = ([, pattern]) => {
  if (typeof pattern !== 'string') return undefined
  const compiled = compilePattern(pattern)
  if (compiled instanceof CelError) return compiled
  return ((text: string) => compiled.test(text)) as unknown as Implementation
}

function matches(text: string, pattern: string): Result {
  const compiled = cachedPattern(pattern)
  return compiled instanceof CelError ? compiled : compiled.test(text)
}

const prepareReplace: Prepare = ([, pattern, replacement]) => {
  if (typeof pattern !== 'string') return undefined
  const compiled = compilePattern(pattern)
  if (compiled instanceof CelError) return compiled
  const template = typeof replacement === 'string' ? parseReplacement(replacement) : undefined
  const replace = (text: string, _: string, to: string): Result =>
    replaceFirst(text, compiled, template ?? parseReplacement(to))
  return replace as unknown as Implementation
}

function regexReplace(text: string, pattern: string, replacement: string): Result {
  const compiled = cachedPattern(pattern)
  return compiled instanceof CelError ? compiled : replaceFirst(text, compiled, parseReplacement(replacement))
}

/** Literal text, or the group to insert, by number or name. */
type ReplacementPart = string | { readonly group: string | number }

/** `$1`, `$name`, `${name}`; `$$` is a dollar sign. */
function parseReplacement(text: string): readonly ReplacementPart[] {
  const parts: ReplacementPart[] = []
  const reference = /\$(?:(\$)|(\d{1,4})|([A-Za-z_]\w*)|\{(\w+)\})/g
  let at = 0
  for (const found of text.matchAll(reference)) {
    parts.push(text.slice(at, found.index))
    const [whole, dollar, number, name, braced] = found
    if (dollar !== undefined) parts.push('$')
    else parts.push({ group: groupKey(number ?? name ?? braced!) })
    at = found.index + whole.length
  }
  parts.push(text.slice(at))
  return parts
}

function groupKey(name: string): string | number {
  return /^\d{1,4}$/.test(name) ? Number(name) : name
}

/** A group that does not exist or took no part inserts nothing. */
function replaceFirst(text: string, pattern: RE2JS, replacement: readonly ReplacementPart[]): Result {
  const matcher = pattern.matcher(text)
  if (!matcher.find()) return text
  const names = matcher.getNamedGroups()
  const inserted = replacement.map((part) => {
    if (typeof part === 'string') return part
    if (typeof part.group === 'string') return Object.hasOwn(names, part.group) ? (names[part.group] ?? '') : ''
    return part.group <= matcher.groupCount() ? (matcher.group(part.group) ?? '') : ''
  })
  const result = text.slice(0, matcher.start()) + inserted.join('') + text.slice(matcher.end())
  return result.length > MAX_TEXT ? TOO_LARGE : result
}

/** Regular expressions: `matches` of the language and the gateway's `regexReplace`. */
export const REGEX_FUNCTIONS: readonly Overload[] = [
  define('(string).matches(string) -> bool', matches, { prepare: prepareMatches }),
  define('matches(string, string) -> bool', matches, { prepare: prepareMatches }),
  define('(string).regexReplace(string, string) -> string', regexReplace, { prepare: prepareReplace }),
]
