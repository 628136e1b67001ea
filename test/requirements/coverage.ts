import type { Requirement, RequirementKind } from '#api/requirements/requirement.ts'
import type { Citation } from './citations.ts'

export type Manifest = Readonly<Record<string, Requirement>>

/** Where the manifest and the citations disagree. All lists are empty when they agree. */
export interface Disagreement {
  /** Citations of ids that the manifest does not have. */
  readonly unknown: readonly Citation[]
  /** Ids that nothing proves, though they are not marked as gaps. */
  readonly unproved: readonly string[]
  /** Those of them that are behaviour and that schema tests cite: a schema runs nothing. */
  readonly onlyShaped: readonly string[]
  /** Ids that are marked as gaps, though they are cited. */
  readonly citedGaps: readonly string[]
  /** Citations of advice by tests, and of anything else by pages. */
  readonly misplaced: readonly Citation[]
}

/** The citations that prove a requirement. A test of behaviour proves the shape that it relies on, too. */
const SUFFICIENT: Readonly<Record<RequirementKind, readonly RequirementKind[]>> = {
  shape: ['shape', 'behaviour'],
  behaviour: ['behaviour'],
  advice: ['advice'],
}

/** Compares what the manifest says with what is cited. */
export function compareWithCitations(manifest: Manifest, citations: readonly Citation[]): Disagreement {
  const proved = provedIds(manifest, citations)
  const cited = new Set(citations.map(({ id }) => id))
  const entries = Object.entries(manifest)
  const unproved = entries.filter(([id, { gap }]) => !gap && !proved.has(id)).map(([id]) => id)
  return {
    unknown: citations.filter(({ id }) => !Object.hasOwn(manifest, id)),
    unproved,
    onlyShaped: unproved.filter((id) => manifest[id]?.kind === 'behaviour' && cited.has(id)),
    citedGaps: entries.filter(([id, { gap }]) => gap && cited.has(id)).map(([id]) => id),
    misplaced: citations.filter(({ id, proves }) => {
      const kind = manifest[id]?.kind
      return kind !== undefined && (kind === 'advice') !== (proves === 'advice')
    }),
  }
}

/** The ids that at least one citation proves. */
export function provedIds(manifest: Manifest, citations: readonly Citation[]): ReadonlySet<string> {
  const sufficient = citations.filter(({ id, proves }) => {
    const kind = manifest[id]?.kind
    return kind !== undefined && SUFFICIENT[kind].includes(proves)
  })
  return new Set(sufficient.map(({ id }) => id))
}
