import type { Steps } from '../in-slices.ts'
import type { Automaton, State, Step } from './automaton.ts'
import { DeadEnds } from './dead-ends.ts'
import { findClass, KIND } from './program.ts'
import { cutForLimit, isHighSurrogate, isLowSurrogate } from './text-cut.ts'
import type { ScannedMatch, TextScanner } from './text-scanner.ts'

export interface ScannerOptions {
  /** Bytes of UTF-8 that may be held back. */
  readonly limit: number
  /** Report only matches whose end is certain. */
  readonly wholeMatches?: boolean
  /** Each match begins at most `within` units before this character. */
  readonly near?: NearCharacter | undefined
}

export interface NearCharacter {
  readonly character: string
  readonly within: number
}

/** Work until a search in steps yields, in characters that are read: a millisecond at most. */
const WORK_PER_STEP = 50_000

/** The work of a step that no text needed before, in characters, besides that for each thread. */
const STEP_WORK = 100

/** Finds the matches of one pattern in a text that arrives in pieces. Positions are those in the whole text unless they say otherwise. */
export class PatternScanner implements TextScanner {
  settled = 0
  overran = false
  readonly #automaton: Automaton
  readonly #options: ScannerOptions
  /** The end of the text so far: what is not settled, and one unit before it. */
  #text = ''
  /** Position of the first unit of `#text`. */
  #base = 0
  /** Position of the next character. */
  #at = 0
  #state: State
  /** By group of the state, where its threads began. */
  readonly #starts: number[] = []
  /** The best match so far; its end is open while threads live. -1: none. */
  #matchStart = -1
  #matchEnd = -1
  /** The match whose beginning was reported, and up to where. -1: none. */
  #reportedStart = -1
  #reportedEnd = -1
  /** Threads that began in text that is settled now: if one matches, the text has left unmasked. As long as they live, the last text is held. */
  #watched: State | undefined
  #found: ScannedMatch[] = []
  #finished = false
  /** Where `#skip` found the next possible beginning, so that it searches each part of the text once. */
  #nextCandidate = -1
  readonly #deadEnds: DeadEnds
  /** The next position at which threads are compared with those that are known to match nothing. */
  #checkpoint: number

  constructor(automaton: Automaton, options: ScannerOptions) {
    this.#automaton = automaton
    this.#options = options
    this.#state = automaton.idle(KIND.begin)
    this.#deadEnds = new DeadEnds(automaton.program.ops.length)
    this.#checkpoint = this.#deadEnds.after(0)
  }

  get isIdle(): boolean {
    return this.#state.idle && this.#watched === undefined && this.#at === this.#base + this.#text.length
  }

  skip(text: string): void {
    this.#at += text.length
    this.settled = this.#at
    // The unit before the settled end decides about conditions there.
    this.#text = text.charAt(text.length - 1)
    this.#base = this.#at - 1
    this.#state = this.#automaton.idle(this.#kindBefore(1))
  }

  push(text: string): void {
    this.#text += text
    this.#proceed()
  }

  finish(): void {
    this.#finished = true
    this.#proceed()
  }

  takeMatches(): readonly ScannedMatch[] {
    const { settled } = this
    const found = this.#found
    if (found.length > 0) this.#found = []
    if (found.length === 0 || found.at(-1)!.end <= settled) return found
    for (const { start, end, continues } of found) {
      if (end <= settled) continue
      this.#found.push({ start: Math.max(start, settled), end, continues: continues || start < settled })
    }
    return found
      .filter(({ start }) => start < settled)
      .map((match) => ({ ...match, end: Math.min(match.end, settled) }))
  }

  /** Searches a whole text, and yields whenever enough work is done. Instead of `push` and `finish`. */
  *search(text: string): Steps<readonly ScannedMatch[]> {
    this.#text = text
    this.#finished = true
    while (!this.#run(WORK_PER_STEP)) yield
    return this.#found
  }

  #proceed(): void {
    if (this.#watched !== undefined) this.#watch(this.#watched)
    this.#run(Number.POSITIVE_INFINITY)
    if (this.#finished) this.settled = this.#base + this.#text.length
    else this.#settle()
    // The unit before the settled end decides about conditions there.
    const dropped = this.settled - 1 - this.#base
    if (dropped <= 0) return
    this.#text = this.#text.slice(dropped)
    this.#base += dropped
  }

  /** Where reading stops: half a character waits for its other half. */
  #readableEnd(): number {
    const { length } = this.#text
    return this.#finished || !isHighSurrogate(this.#text, length - 1) ? length : length - 1
  }

  /** Reads the text to its end, or until `work` is done. Returns whether it reached the end. */
  #run(work: number): boolean {
    const automaton = this.#automaton
    const { program } = automaton
    const { latin } = program
    const text = this.#text
    const base = this.#base
    const end = this.#readableEnd()
    const { quiet } = automaton
    const hasLiteral = program.prefix !== '' || this.#options.near !== undefined
    let state = this.#state
    let i = this.#at - base
    let checkpoint = this.#checkpoint - base
    this.#nextCandidate = -1
    for (;;) {
      while (i < end && work > 0) {
        if (state.idle) {
          let to = hasLiteral ? this.#skip(i, end) : i
          const last = Math.min(end, i + work)
          while (to < last && quiet[text.charCodeAt(to)] === 1) to++
          if (to > i) {
            work -= to - i
            i = to
            state = automaton.idle(this.#kindBefore(i))
            continue
          }
        }
        if (i >= checkpoint) {
          const all = state
          state = this.#leaveOut(all, base + i)
          if (state !== all) work -= STEP_WORK + all.pcs.length
          if (state.isDead) {
            i = this.#closeMatch() - base
            state = automaton.idle(this.#kindBefore(i))
          }
          checkpoint = this.#checkpoint - base
          continue
        }
        const unit = text.charCodeAt(i)
        let width = 1
        let cls: number
        if (unit < 256) cls = latin[unit]!
        else {
          const rune = text.codePointAt(i)!
          if (rune > 0xffff) width = 2
          cls = findClass(program, rune)
        }
        let step = state.steps[cls]
        work--
        if (step === undefined) {
          step = automaton.computeStep(state, cls)
          work -= STEP_WORK + state.pcs.length
        }
        if (!step.plain) {
          this.#apply(step, state, base + i)
          if (step.to.isDead) {
            i = this.#closeMatch() - base
            state = automaton.idle(this.#kindBefore(i))
            checkpoint = this.#checkpoint - base
            continue
          }
        }
        state = step.to
        i += width
      }
      this.#at = base + i
      this.#state = state
      if (i < end) return false
      if (!this.#finished) return true
      this.#apply(automaton.endStep(state), state, base + i)
      if (this.#matchStart < 0) return true
      i = this.#closeMatch() - base
      if (i >= end) return true
      state = automaton.idle(this.#kindBefore(i))
      checkpoint = this.#checkpoint - base
    }
  }

  /** The first position from `from` on where a match can begin, as far as a search for a literal tells. */
  #skip(from: number, end: number): number {
    const { near } = this.#options
    const literal = near?.character ?? this.#automaton.program.prefix
    const before = near?.within ?? 0
    if (this.#nextCandidate < from) {
      const found = this.#text.indexOf(literal, from)
      // The text may end with the first part of the literal.
      const rest = this.#finished ? end : end - (literal.length - 1)
      this.#nextCandidate = found >= 0 ? found : Math.max(from, rest)
    }
    const isEnd = this.#finished && this.#nextCandidate >= end
    const to = Math.max(from, Math.min(end, isEnd ? end : this.#nextCandidate - before))
    return to > from && isLowSurrogate(this.#text, to) ? to - 1 : to
  }

  /** Threads that match nothing, as an earlier search has found, need not be followed again. */
  #leaveOut(state: State, position: number): State {
    this.#checkpoint = this.#deadEnds.after(position)
    const known = this.#deadEnds.at(position)
    let rest = state
    if (known !== undefined && state.pcs.length > 0) {
      const step = this.#automaton.without(state, known)
      this.#apply(step, state, position)
      rest = step.to
    }
    // A match that grows with each character ends there.
    if (this.#matchStart >= 0 && this.#matchEnd < position - 1) this.#deadEnds.note(position, rest)
    return rest
  }

  #kindBefore(index: number): number {
    if (this.#base + index === 0) return KIND.begin
    const unit = this.#text.charCodeAt(index - 1)
    if (unit === 0x0a) return KIND.newline
    return isWordUnit(unit) ? KIND.word : KIND.other
  }

  #apply({ match, moves }: Step, from: State, position: number): void {
    const starts = this.#starts
    if (match >= 0) {
      this.#matchStart = match === from.groupCount ? position : starts[match]!
      this.#matchEnd = position
      this.#deadEnds.drop()
    }
    if (moves === undefined) return
    // Numbers of groups only become smaller, so no entry is overwritten before it is read.
    for (let group = 0; group < moves.length; group++) {
      const old = moves[group]!
      starts[group] = old === from.groupCount ? position : starts[old]!
    }
  }

  /** Reports the best match, whose end is certain now. Returns where the search goes on. */
  #closeMatch(): number {
    const start = this.#matchStart
    const end = this.#matchEnd
    this.#matchStart = -1
    this.#report(start, end)
    this.#reportedStart = -1
    const isEmpty = end === start
    const next = isEmpty && this.#text.codePointAt(end - this.#base)! > 0xffff ? end + 2 : isEmpty ? end + 1 : end
    this.#deadEnds.keep(next)
    this.#checkpoint = this.#deadEnds.after(next)
    return next
  }

  #report(start: number, end: number): void {
    const continues = this.#reportedStart === start
    const from = continues ? this.#reportedEnd : start
    if (end <= from) return
    this.#found.push({ start: from, end, continues })
    this.#reportedStart = start
    this.#reportedEnd = end
  }

  #settle(): void {
    let certain = this.#settleCertain()
    // Half a character after the last read one waits in any case, beside what is held.
    const read = this.#at - this.#base
    const text = read < this.#text.length ? this.#text.slice(0, read) : this.#text
    const from = this.#watched === undefined ? certain : this.settled
    const cut = this.#base + cutForLimit(text, from - this.#base, this.#options.limit)
    while (certain < cut) {
      this.#giveUp(cut)
      certain = this.#settleCertain()
    }
    // The end of a match whose beginning has left does not leave.
    this.settled = Math.min(certain, cut)
  }

  /** Reports a match that has certainly begun. Returns the position before which nothing can change any more. */
  #settleCertain(): number {
    const state = this.#state
    if (state.pcs.length === 0) return this.#at
    const start = this.#starts[0]!
    if (this.#options.wholeMatches) return start
    const end = state.matchesHere(this.#automaton.matchesHere)
      ? this.#at
      : start === this.#matchStart
        ? this.#matchEnd
        : -1
    if (end < 0) return start
    this.#report(start, end)
    return end
  }

  /** Lets text before `cut` go: what began there is watched from now on, and the search goes on without it. */
  #giveUp(cut: number): void {
    const automaton = this.#automaton
    const starts = this.#starts
    const state = this.#state
    const isMatchLost = this.#matchStart >= 0 && this.#matchStart < cut
    let lost = 0
    while (lost < state.groupCount && (isMatchLost || starts[lost]! < cut)) lost++
    this.#watched = automaton.watch(this.#watched, state, lost)
    this.#state = automaton.withoutFirstGroups(state, lost)
    starts.splice(0, lost)
    if (this.#matchStart < 0 || this.#state.pcs.length > 0) return
    this.#at = this.#closeMatch()
    this.#state = automaton.idle(this.#kindBefore(this.#at - this.#base))
    this.#run(Number.POSITIVE_INFINITY)
  }

  /** Runs the watched threads over new text. */
  #watch(watched: State): void {
    const automaton = this.#automaton
    const { program } = automaton
    const end = this.#readableEnd()
    let state = watched
    for (let i = this.#at - this.#base; i < end && state.pcs.length > 0; ) {
      const rune = this.#text.codePointAt(i)!
      const cls = findClass(program, rune)
      const step = state.steps[cls] ?? automaton.computeStep(state, cls)
      if (step.match >= 0) this.overran = true
      state = step.to
      i += rune > 0xffff ? 2 : 1
    }
    if (this.#finished && automaton.endStep(state).match >= 0) this.overran = true
    this.#watched = state.pcs.length > 0 ? state : undefined
  }
}

function isWordUnit(unit: number): boolean {
  return (
    (unit >= 0x30 && unit <= 0x39) || (unit >= 0x41 && unit <= 0x5a) || unit === 0x5f || (unit >= 0x61 && unit <= 0x7a)
  )
}
