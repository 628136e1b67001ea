import type { Citation } from './citations.ts'
import type { Requirement } from './requirement.ts'

export type Manifest = Readonly<Record<string, Requirement>>

/** Where the manifest and the tests disagree. All three lists are empty when they agree. */
export interface Disagreement {
  /** Citations of ids that the manifest does not have. */
  readonly unknown: readonly Citation[]
  /** Ids that no test cites, though they are not marked as gaps. */
  readonly unproved: readonly string[]
  /** Ids that are marked as gaps, though a test cites them. */
  readonly provedGaps: readonly string[]
}

/** Compares what the manifest says with what tests cite. */
export function compareWithTests(manifest: Manifest, citations: readonly Citation[]): Disagreement {
  const cited = citedIds(citations)
  const entries = Object.entries(manifest)
  return {
    unknown: citations.filter((citation) => !Object.hasOwn(manifest, citation.id)),
    unproved: entries.filter(([id, entry]) => !entry.gap && !cited.has(id)).map(([id]) => id),
    provedGaps: entries.filter(([id, entry]) => entry.gap && cited.has(id)).map(([id]) => id),
  }
}

export function citedIds(citations: readonly Citation[]): ReadonlySet<string> {
  return new Set(citations.map((citation) => citation.id))
}
