import type { Pace, Steps } from '#base/in-slices.ts'
import { sortInSteps } from '#base/order-in-steps.ts'
import type { TextRun } from '../../texts/body-texts.ts'
import { type AnswerFormat, compareTexts, SEQUENCES } from '../../texts/read-together.ts'
import type { GuardedText } from './guarded-text.ts'

/** The joined texts of a run, and where they are. */
export interface JoinedRun extends Pick<TextRun, 'role' | 'lasts' | 'isOne'> {
  readonly texts: readonly GuardedText[]
  readonly places: readonly { readonly path: string }[]
}

export type TextGroups = readonly (readonly GuardedText[])[]

/** The work for a text that is put into a list. */
const WORK_PER_TEXT = 4
/** The work for the path of a text. */
const WORK_PER_PATH = 64

/** Texts of one role. */
interface Group {
  readonly role: TextRun['role']
  readonly texts: GuardedText[]
  /** Of runs. */
  count: number
  /** It leaves out a run between its own. */
  isShorter: boolean
}

/** Texts of an answer that a client reads one after the other. Yields between texts. */
export function* groupAnswer(runs: readonly JoinedRun[], format: AnswerFormat, pace: Pace): Steps<TextGroups> {
  const ones: TextGroups[number][] = []
  const sequences = new Map<string, { readonly path: string; readonly text: GuardedText }[]>()
  for (const { texts, places, isOne, role, lasts } of runs) {
    if (isOne) ones.push(texts)
    for (const [at, text] of isOne ? [] : texts.entries()) {
      if (!text.joins) continue
      const { path } = places[at]!
      for (const name of SEQUENCES[format](path, { role, lasts })) {
        const sequence = sequences.get(name)
        if (sequence === undefined) sequences.set(name, [{ path, text }])
        else sequence.push({ path, text })
      }
      if (pace.after(WORK_PER_PATH)) yield
    }
  }
  const groups: GuardedText[][] = []
  const byFirst = new Map<GuardedText, GuardedText[][]>()
  for (const sequence of sequences.values()) {
    const sorted = yield* sortInSteps(sequence, pace, (one, other) => {
      pace.after(WORK_PER_PATH)
      return compareTexts(one.path, other.path)
    })
    const group: GuardedText[] = []
    for (const { text } of sorted) {
      group.push(text)
      if (pace.after(WORK_PER_TEXT)) yield
    }
    const others = byFirst.get(group[0]!) ?? []
    if (group.length === 1 || others.some((other) => isSame(other, group))) continue
    byFirst.set(group[0]!, [...others, group])
    groups.push(group)
  }
  return [...ones.filter(({ length }) => length > 1), ...groups]
}

function isSame(one: readonly GuardedText[], other: readonly GuardedText[]): boolean {
  return one.length === other.length && one.every((text, at) => text === other[at])
}

/**
 * Texts of a request that a model reads one after the other: those of a run; those of several runs of one role, neighbours as they are in the body,
 * and without what a translation leaves out; and all of the system, which some APIs have in front of the messages. Yields between texts.
 */
export function* groupRequest(runs: readonly JoinedRun[], pace: Pace): Steps<TextGroups> {
  const neighbours = yield* groupRuns(
    runs.filter(({ isOne }) => !isOne),
    pace,
  )
  const groups: (readonly GuardedText[])[] = []
  for (const { texts } of runs) {
    const joined: GuardedText[] = []
    for (const text of texts) {
      if (text.joins) joined.push(text)
      if (pace.after(WORK_PER_TEXT)) yield
    }
    if (joined.length > 1) groups.push(joined)
  }
  return [...groups, ...neighbours]
}

function* groupRuns(runs: readonly JoinedRun[], pace: Pace): Steps<TextGroups> {
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
