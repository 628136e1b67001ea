import { compareText } from '#base/compare-text.ts'
import { encode } from '../json/splice.ts'

/** A model name that the configuration sets in requests. */
export interface ModelName {
  readonly name: string
  /** The name as JSON text. */
  readonly json: Uint8Array
}

export function toModelName(name: string): ModelName {
  return { name, json: encode(JSON.stringify(name)) }
}

/** `modelAliases`, prepared for look-up. */
export interface ModelAliases {
  readonly exact: ReadonlyMap<string, ModelName>
  /** Keys with `*`, split at `*`, longest key first. */
  readonly patterns: readonly { readonly pieces: readonly string[]; readonly target: ModelName }[]
  /** Names of all targets. */
  readonly targets: ReadonlySet<string>
}

/** Aliases with an empty target are ignored. @returns undefined without aliases; an empty map counts as unset (decision B01) */
export function compileAliases(aliases: Readonly<Record<string, string>> | undefined): ModelAliases | undefined {
  const entries = Object.entries(aliases ?? {}).filter(([, target]) => target !== '')
  if (entries.length === 0) return undefined
  const exact = entries.filter(([key]) => !key.includes('*'))
  const patterns = entries
    .filter(([key]) => key.includes('*'))
    .sort(([one], [other]) => other.length - one.length || compareText(one, other))
  return {
    exact: new Map(exact.map(([key, target]) => [key, toModelName(target)])),
    patterns: patterns.map(([key, target]) => ({ pieces: key.split('*'), target: toModelName(target) })),
    targets: new Set(entries.map(([, target]) => target)),
  }
}

/** One look-up, without chains; undefined if no alias matches (decision B19). */
export function findAlias(aliases: ModelAliases, model: string): ModelName | undefined {
  return aliases.exact.get(model) ?? aliases.patterns.find(({ pieces }) => matchesPieces(pieces, model))?.target
}

/** Whether `text` consists of the pieces, in order, with any text between them. */
function matchesPieces(pieces: readonly string[], text: string): boolean {
  const first = pieces[0]!
  const last = pieces[pieces.length - 1]!
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  const end = text.length - last.length
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at)
    if (found < 0 || found + piece.length > end) return false
    at = found + piece.length
  }
  return true
}
