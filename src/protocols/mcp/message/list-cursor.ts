import { openJson, type Sealer, sealJson } from '#base/sealer.ts'
import type { ListRoute } from './methods.ts'

/** The context of a combined cursor; in other contexts it is not accepted. */
export interface CursorOwner {
  readonly backend: string
  readonly sessionKey: string
  readonly list: ListRoute['member']
}

/** The position of each target that has more items, by target name. */
export type Cursors = Readonly<Record<string, string>>

/** How far a client has read a merged list. */
export interface ListPosition {
  readonly cursors: Cursors
  /** The number of pages so far. */
  readonly pages: number
}

interface SealedCursor {
  readonly k: 'cursor'
  readonly b: string
  readonly r: string
  readonly l: ListRoute['member']
  readonly c: Cursors
  /** Number of pages so far; unset: sealed by an earlier version. */
  readonly p?: number
}

/** Undefined if no target has more items. */
export function sealCursor(sealer: Sealer, owner: CursorOwner, { cursors, pages }: ListPosition): string | undefined {
  if (Object.keys(cursors).length === 0) return undefined
  const sealed: SealedCursor = {
    k: 'cursor',
    b: owner.backend,
    r: owner.sessionKey,
    l: owner.list,
    c: cursors,
    p: pages,
  }
  return sealJson(sealer, sealed)
}

/** Undefined for a cursor of another context, or one that was modified. */
export function openCursor(sealer: Sealer, owner: CursorOwner, text: string): ListPosition | undefined {
  const sealed = openJson<SealedCursor>(sealer, 'cursor', text)
  if (sealed === undefined) return undefined
  const belongs = sealed.b === owner.backend && sealed.r === owner.sessionKey && sealed.l === owner.list
  return belongs ? { cursors: sealed.c, pages: sealed.p ?? 1 } : undefined
}
