/** `modelAliases` ready for look-up. */
export interface ModelAliases {
  readonly exact: ReadonlyMap<string, string>
  /** Keys with `*`, split at it, longest key first. */
  readonly patterns: readonly { readonly pieces: readonly string[]; readonly target: string }[]
}

/** @returns undefined for no aliases at all; an empty map counts as unset (decision B01) */
export function compileAliases(aliases: Readonly<Record<string, string>> | undefined): ModelAliases | undefined {
  const entries = Object.entries(aliases ?? {})
  if (entries.length === 0) return undefined
  const patterns = entries
    .filter(([key]) => key.includes('*'))
    .sort(([one], [other]) => other.length - one.length || (one < other ? -1 : 1))
    .map(([key, target]) => ({ pieces: key.split('*'), target }))
  return { exact: new Map(entries.filter(([key]) => !key.includes('*'))), patterns }
}

/** One look-up, no chains; the target is used as it is written (decision B19). */
export function resolveAlias(aliases: ModelAliases | undefined, model: string): string {
  if (aliases === undefined) return model
  const target = aliases.exact.get(model)
  if (target !== undefined) return target
  return aliases.patterns.find(({ pieces }) => matchesPieces(pieces, model))?.target ?? model
}

/** Whether `text` reads first piece, anything, next piece, ..., last piece. */
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
