import { isTarget } from '#net/http/field-syntax.ts'
import { afterPrefix, pathFault } from '#net/http/path-form.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import { splitTarget } from './query.ts'

/** The platform's HTTPPathModifier. */
export interface PathModifierSpec {
  readonly type: 'ReplaceFullPath' | 'ReplacePrefixMatch'
  readonly replaceFullPath?: string
  readonly replacePrefixMatch?: string
}

/**
 * Computes a new request target from the old one and the prefix that the route matched; the query is unchanged. Undefined: impossible, so
 * the request is refused.
 */
export type PathModifier = (target: string, matchedPrefix: string | undefined) => string | undefined

const IMPOSSIBLE: PathModifier = () => undefined

/** An invalid path is reported and refuses every request. */
export function compilePathModifier(
  source: PolicySource<unknown>,
  spec: PathModifierSpec,
  context: CompileContext,
): PathModifier {
  const isFull = spec.type === 'ReplaceFullPath'
  const replacement = (isFull ? spec.replaceFullPath : spec.replacePrefixMatch) ?? ''
  if (!isPath(replacement)) {
    const field = isFull ? 'replaceFullPath' : 'replacePrefixMatch'
    const message =
      'must be empty or a path that begins with / and has no query, dot segments or malformed escapes; requests are refused'
    context.report(source, `.path.${field}`, { severity: 'error', code: 'path-invalid', message })
    return IMPOSSIBLE
  }
  if (isFull) return (target) => (replacement === '' ? '/' : replacement) + splitTarget(target).query
  return (target, matchedPrefix) => replacePrefix(target, matchedPrefix, replacement)
}

function isPath(text: string): boolean {
  if (text === '') return true
  return text.startsWith('/') && isTarget(text) && !text.includes('?') && pathFault(text) === undefined
}

/**
 * Replaces the prefix of a PathPrefix match. Slashes are neither doubled nor lost, and the result is never empty (docs/behaviour/http.md,
 * "Filters"). Without such a match, or if a policy has changed the path since, there is nothing to replace.
 */
function replacePrefix(target: string, matchedPrefix: string | undefined, replacement: string): string | undefined {
  if (matchedPrefix === undefined) return undefined
  const { path, query } = splitTarget(target)
  const rest = afterPrefix(path, withoutFinalSlash(matchedPrefix))
  if (rest === undefined) return undefined
  if (rest === '') return (replacement === '' ? '/' : replacement) + query
  return withoutFinalSlash(replacement) + rest + query
}

function withoutFinalSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path
}
