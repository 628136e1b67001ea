import type { Requirement } from '#api/requirements/requirement.ts'
import type { Manifest } from './coverage.ts'

interface Count {
  proved: number
  gaps: number
  unproved: number
}

const HEAD = ['proved', 'gaps', 'unproved', 'total'] as const

/** Tables of what is proved: for each document by section, and for both by kind. */
export function formatTable(manifest: Manifest, proved: ReadonlySet<string>): string {
  const entries = Object.entries(manifest)
  const bySection = ([1, 2] as const).flatMap((document) => [
    `Document ${document}`,
    ...formatCounts(
      'section',
      entries.filter(([, entry]) => entry.document === document),
      ({ section }) => section,
      proved,
    ),
    '',
  ])
  return [...bySection, 'Both documents', ...formatCounts('kind', entries, ({ kind }) => kind, proved)].join('\n')
}

/** The entries that `select` keeps, one per line: id, kind, place in the specification, text. */
export function formatEntries(manifest: Manifest, select: (id: string, entry: Requirement) => boolean): string {
  return Object.entries(manifest)
    .filter(([id, entry]) => select(id, entry))
    .map(([id, { kind, document, section, text }]) => `${id} ${kind} (${document}: ${section}) ${text}`)
    .join('\n')
}

/** One row for each group, and one for all. */
function formatCounts(
  label: string,
  entries: readonly (readonly [id: string, entry: Requirement])[],
  groupOf: (entry: Requirement) => string,
  proved: ReadonlySet<string>,
): readonly string[] {
  const counts = new Map<string, Count>()
  const all = emptyCount()
  for (const [id, entry] of entries) {
    const group = groupOf(entry)
    const count = counts.get(group) ?? emptyCount()
    counts.set(group, count)
    const state = proved.has(id) ? 'proved' : entry.gap ? 'gaps' : 'unproved'
    count[state] += 1
    all[state] += 1
  }
  const rows = [...counts, ['all', all] as const].map(([group, { proved: done, gaps, unproved }]) =>
    formatRow(group, [done, gaps, unproved, done + gaps + unproved]),
  )
  return [formatRow(label, HEAD), ...rows]
}

function emptyCount(): Count {
  return { proved: 0, gaps: 0, unproved: 0 }
}

function formatRow(label: string, cells: readonly (string | number)[]): string {
  return `  ${label.padEnd(10)}${cells.map((cell) => String(cell).padStart(10)).join('')}`
}
