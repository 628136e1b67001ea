import { type Outcome, proceed, type Refusal, reject } from '#exchange/outcome.ts'
import { isConnectionLevel } from '#net/http/field-name.ts'
import { isAuthority, isFieldName } from '#net/http/field-syntax.ts'
import type { Head } from '#net/http/head.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import { fieldText } from './field-text.ts'
import type { HttpHeaderFilterSpec } from './header-filter.ts'

type Pair = readonly [lowerName: string, value: string]

/** The platform's HTTPHeaderFilter, compiled: fixed values, in the order add, set, remove (docs/behaviour/http.md, "Filters"). */
export interface HeaderModifier {
  readonly add: readonly Pair[]
  readonly set: readonly Pair[]
  readonly remove: readonly string[]
  /** The new value of `host`; only for requests. */
  readonly host: string | undefined
}

/** A modifier that cannot be applied refuses every request; it is never ignored. */
export type CompiledModifier = HeaderModifier | Refusal

export function compileHeaderModifier(
  source: PolicySource<unknown>,
  message: 'request' | 'response',
  spec: HttpHeaderFilterSpec,
  context: CompileContext,
): CompiledModifier {
  const site = { source, message, context }
  const add = fieldsAt(site, '.add', spec.add ?? [])
  const set = fieldsAt(site, '.set', spec.set ?? [])
  const host = message === 'request' ? (lastHost(set) ?? lastHost(add)) : undefined
  const remove = (spec.remove ?? []).flatMap((name, index) => removalAt(site, `.remove[${index}]`, name))
  if (add.includes(BAD) || set.includes(BAD) || remove.includes(BAD_NAME)) {
    return reject('filter-failed', { detail: `${source.path}.${message} contains an invalid header` })
  }
  const plain = ([name]: Pair) => name !== 'host' || message === 'response'
  return { add: add.filter(plain), set: set.filter(plain), remove, host }
}

export function isHeaderModifier(compiled: CompiledModifier): compiled is HeaderModifier {
  return !('kind' in compiled)
}

/** Applies the modifier to a head, except for `host`. */
export function modifyHeaders(modifier: HeaderModifier, head: Head): Outcome {
  for (const [name, value] of modifier.add) head.append(name, value)
  for (const [name, value] of modifier.set) head.set(name, value)
  for (const name of modifier.remove) head.remove(name)
  return proceed
}

/** Replaces a header that cannot be written; the problem has been reported. */
const BAD: Pair = ['', '']
const BAD_NAME = ''

interface Site {
  readonly source: PolicySource<unknown>
  readonly message: 'request' | 'response'
  readonly context: CompileContext
}

function fieldsAt(
  site: Site,
  list: string,
  fields: readonly { readonly name: string; readonly value: string }[],
): readonly Pair[] {
  return fields.flatMap(({ name, value }, index): Pair[] => {
    const path = `${list}[${index}]`
    const text = fieldText(value)
    if (!isFieldName(name) || text === undefined || (isHostOf(site, name) && !isAuthority(text))) {
      reportInvalid(site, path, 'cannot be written as a header; requests are refused')
      return [BAD]
    }
    if (isConnectionLevel(name.toLowerCase())) return noEffect(site, path, name)
    return [[name.toLowerCase(), text]]
  })
}

/** An invalid header name is probably a misspelling of another one, which would not be removed. */
function removalAt(site: Site, path: string, name: string): string[] {
  if (!isFieldName(name)) {
    reportInvalid(site, path, `${JSON.stringify(name)} is not a valid header name; requests are refused`)
    return [BAD_NAME]
  }
  if (isHostOf(site, name) || isConnectionLevel(name.toLowerCase())) return noEffect(site, path, name)
  return [name.toLowerCase()]
}

function reportInvalid(site: Site, path: string, message: string): void {
  site.context.report(site.source, `.${site.message}${path}`, { severity: 'error', code: 'header-invalid', message })
}

function noEffect(site: Site, path: string, name: string): never[] {
  const message = `has no effect: policies cannot change ${name} here`
  site.context.report(site.source, `.${site.message}${path}`, { severity: 'warning', code: 'no-effect', message })
  return []
}

function isHostOf(site: Site, name: string): boolean {
  return site.message === 'request' && name.toLowerCase() === 'host'
}

function lastHost(fields: readonly Pair[]): string | undefined {
  return fields.findLast(([name]) => name === 'host')?.[1]
}
