import { CelError, tooLarge } from '../error.ts'
import { define, type Implementation, type Overload, type Prepare } from '../overload.ts'
import type { Result } from '../value.ts'
import { compilePattern, computedPattern, type Pattern } from './pattern.ts'
import { MAX_TEXT } from './text-functions.ts'

const prepareMatches: Prepare = ([, pattern]) => {
  if (typeof pattern !== 'string') return undefined
  const compiled = compilePattern(pattern)
  if (compiled instanceof CelError) return compiled
  return ((text: string) => compiled.test(text)) as unknown as Implementation
}

function matches(text: string, pattern: string): Result {
  const compiled = computedPattern(pattern)
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
  const compiled = computedPattern(pattern)
  return compiled instanceof CelError ? compiled : replaceFirst(text, compiled, parseReplacement(replacement))
}

/** Literal text, or a group to insert, by number or name. */
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

/** A group that does not exist or did not participate inserts nothing. */
function replaceFirst(text: string, pattern: Pattern, replacement: readonly ReplacementPart[]): Result {
  const matcher = pattern.find(text)
  if (matcher === undefined) return text
  const names = matcher.getNamedGroups()
  const inserted = replacement.map((part) => {
    if (typeof part === 'string') return part
    if (typeof part.group === 'string') return Object.hasOwn(names, part.group) ? (names[part.group] ?? '') : ''
    return part.group <= matcher.groupCount() ? (matcher.group(part.group) ?? '') : ''
  })
  const result = text.slice(0, matcher.start()) + inserted.join('') + text.slice(matcher.end())
  return result.length > MAX_TEXT ? tooLarge() : result
}

/** Regular expressions: `matches` of the language, and `regexReplace`. */
export const REGEX_FUNCTIONS: readonly Overload[] = [
  define('(string).matches(string) -> bool', matches, { prepare: prepareMatches }),
  define('matches(string, string) -> bool', matches, { prepare: prepareMatches }),
  define('(string).regexReplace(string, string) -> string', regexReplace, { prepare: prepareReplace }),
]
