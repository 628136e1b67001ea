import type { Manifest } from './coverage.ts'
import type { Requirement } from './requirement.ts'

interface Count {
  proved: number
  gaps: number
  unproved: number
}

const HEAD = ['section', 'proved', 'gaps', 'unproved', 'total'] as const

/** A table of what is proved per document and section, with the totals of each document and of both. */
export function formatTable(manifest: Manifest, cited: ReadonlySet<string>): string {
  const total = emptyCount()
  const rows: string[] = []
  for (const document of [1, 2] as const) {
    const sections = countSections(manifest, cited, document)
    const sum = emptyCount()
    rows.push('', `Document ${document}`, formatRow(HEAD))
    for (const [section, count] of sections) {
      rows.push(formatCount(section, count))
      for (const key of ['proved', 'gaps', 'unproved'] as const) {
        sum[key] += count[key]
        total[key] += count[key]
      }
    }
    rows.push(formatCount('all', sum))
  }
  return [...rows.slice(1), '', 'Both documents', formatRow(HEAD), formatCount('all', total)].join('\n')
}

/** The entries that `select` keeps, one per line: id, place in the specification, text. */
export function formatEntries(manifest: Manifest, select: (id: string, entry: Requirement) => boolean): string {
  return Object.entries(manifest)
    .filter(([id, entry]) => select(id, entry))
    .map(([id, entry]) => `${id} (${entry.document}: ${entry.section}) ${entry.text}`)
    .join('\n')
}

function countSections(manifest: Manifest, cited: ReadonlySet<string>, document: 1 | 2): ReadonlyMap<string, Count> {
  const counts = new Map<string, Count>()
  for (const [id, entry] of Object.entries(manifest)) {
    if (entry.document !== document) continue
    const count = counts.get(entry.section) ?? emptyCount()
    counts.set(entry.section, count)
    count[cited.has(id) ? 'proved' : entry.gap ? 'gaps' : 'unproved'] += 1
  }
  return counts
}

function emptyCount(): Count {
  return { proved: 0, gaps: 0, unproved: 0 }
}

function formatCount(label: string, { proved, gaps, unproved }: Count): string {
  return formatRow([label, proved, gaps, unproved, proved + gaps + unproved])
}

function formatRow([label, ...cells]: readonly (string | number)[]): string {
  return `  ${String(label).padEnd(8)}${cells.map((cell) => String(cell).padStart(10)).join('')}`
}
