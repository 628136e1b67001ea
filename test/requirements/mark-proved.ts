/** A manifest file with its entries marked anew, and the ids whose mark changed. */
export interface Marked {
  readonly source: string
  readonly proved: readonly string[]
  readonly gaps: readonly string[]
}

const ENTRY = /^( {2}'([^']+)': (?:shape|behaviour|advice))(\.gap)?\(/gm

/** Marks every entry of a manifest source that is not proved as a gap, and no other. The result wants formatting. */
export function markProved(source: string, proved: ReadonlySet<string>): Marked {
  const changed: Record<'proved' | 'gaps', string[]> = { proved: [], gaps: [] }
  const entries = source.replace(ENTRY, (whole, head: string, id: string, mark?: string) => {
    if (proved.has(id) === (mark === undefined)) return whole
    changed[proved.has(id) ? 'proved' : 'gaps'].push(id)
    return `${head}${proved.has(id) ? '' : '.gap'}(`
  })
  return { source: entries, ...changed }
}
