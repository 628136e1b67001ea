import type { Pace, Steps } from '#base/in-slices.ts'
import type { TextRun } from '../texts/body-texts.ts'
import type { GuardedText } from './guarded-text.ts'

/** The joined texts of a run. */
export interface JoinedRun extends Pick<TextRun, 'role' | 'lasts'> {
  readonly texts: readonly GuardedText[]
}

/** The work for a text that is put into a list. */
const WORK_PER_TEXT = 4

/** Texts of one role. */
interface Group {
  readonly role: TextRun['role']
  readonly texts: GuardedText[]
  /** Of runs. */
  count: number
  /** It leaves out a run between its own. */
  isShorter: boolean
}

/**
 * Texts of several runs of one role, which a model reads one after the other: neighbours as they are in the body; neighbours without what a
 * translation leaves out; and all of the system, which some APIs have in front of the messages. Yields between texts.
 */
export function* groupRuns(runs: readonly JoinedRun[], pace: Pace): Steps<readonly (readonly GuardedText[])[]> {
  const written = yield* joinNeighbours(runs, pace)
  const lasting = runs.every(({ lasts }) => lasts)
    ? []
    : (yield* joinNeighbours(runs, pace, true)).filter(({ isShorter }) => isShorter)
  const system = yield* joinSystem(runs, pace)
  return [...written, ...lasting, ...system].filter(({ count }) => count > 1).map(({ texts }) => texts)
}

/** @param skips what a translation may leave out is not there */
function* joinNeighbours(runs: readonly JoinedRun[], pace: Pace, skips = false): Steps<readonly Group[]> {
  const groups: Group[] = []
  let hasSkipped = false
  for (const run of runs) {
    const last = groups.at(-1)
    if (skips && !run.lasts) {
      hasSkipped ||= !(yield* isBlank(run, pace))
      continue
    }
    // A message without text does not separate those around it.
    if (last !== undefined && last.role !== run.role && (yield* isBlank(run, pace))) continue
    if (last?.role === run.role) last.isShorter ||= hasSkipped
    else groups.push({ role: run.role, texts: [], count: 0, isShorter: false })
    hasSkipped = false
    yield* addTo(groups.at(-1)!, run, pace)
  }
  return groups
}

/** @returns no group if all texts of the system are neighbours */
function* joinSystem(runs: readonly JoinedRun[], pace: Pace): Steps<readonly Group[]> {
  const group: Group = { role: 'system', texts: [], count: 0, isShorter: false }
  let isOver = false
  for (const run of runs) {
    if (run.role === 'system') {
      group.isShorter ||= isOver
      yield* addTo(group, run, pace)
    } else isOver ||= group.count > 0 && !(yield* isBlank(run, pace))
  }
  return group.isShorter ? [group] : []
}

function* addTo(group: Group, { texts }: JoinedRun, pace: Pace): Steps<void> {
  group.count++
  for (const text of texts) {
    if (text.joins) group.texts.push(text)
    if (pace.after(WORK_PER_TEXT)) yield
  }
}

function* isBlank({ texts }: JoinedRun, pace: Pace): Steps<boolean> {
  for (const { joins, text } of texts) {
    if (joins && /\S/.test(text)) return false
    if (pace.after(WORK_PER_TEXT + text.length)) yield
  }
  return true
}
