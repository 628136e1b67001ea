import type { RE2JS } from 're2js'
import { CONDITION, KIND, OP, type Program, readProgram } from './program.ts'

/**
 * A set of threads of a pattern, in order of priority. A thread is an instruction and the group of threads that began at the same
 * position; groups are numbered by position, so the threads of group 0 began first.
 */
export class State {
  readonly pcs: Int32Array
  readonly groups: Uint16Array
  readonly groupCount: number
  /** What stands before the position (`KIND`). */
  readonly kind: number
  /** A match may begin here: none was found yet. */
  readonly searching: boolean
  /** No thread lives, and the search goes on. */
  readonly idle: boolean
  /** No thread lives: the best match so far is final. */
  readonly isDead: boolean
  /** By class of the next code point; the last entry is the end of the text. */
  readonly steps: (Step | undefined)[]
  /** Whether a match of the first group ends here, whatever follows; undefined: not computed yet. */
  #matchesHere: boolean | undefined

  constructor(threads: Threads, kind: number, searching: boolean, classCount: number) {
    this.pcs = Int32Array.from(threads.pcs)
    this.groups = Uint16Array.from(threads.groups)
    this.groupCount = (threads.groups.at(-1) ?? -1) + 1
    this.kind = kind
    this.searching = searching
    this.idle = searching && threads.pcs.length === 0
    this.isDead = !searching && threads.pcs.length === 0
    this.steps = new Array<Step | undefined>(classCount + 1).fill(undefined)
  }

  matchesHere(compute: (state: State) => boolean): boolean {
    this.#matchesHere ??= compute(this)
    return this.#matchesHere
  }
}

interface Threads {
  readonly pcs: number[]
  readonly groups: number[]
}

/** How a state changes with one code point. */
export interface Step {
  readonly to: State
  /** For each group of the new state, its number in the old one; a number after the last: it begins here. Undefined: they keep their numbers. */
  readonly moves: Uint16Array | undefined
  /** The group of a match that ends before the code point, numbered as in `moves`; -1: none. */
  readonly match: number
  /** Only the state changes: no match, no moves, and `to` is not dead. */
  readonly plain: boolean
}

/** Numbers that the cached states of one pattern may hold; 4 bytes each, a few more in arrays. */
const MAX_CACHED_CELLS = 500_000

/**
 * A pattern as an automaton whose states are computed when a text first needs them. Matches are leftmost-first, as in RE2, found in one pass
 * without a stack: the work for a code point is bounded by the number of instructions.
 */
export class Automaton {
  readonly program: Program
  /** By code point below 256: 1 if no thread begins with it and no match is empty before it. A text is searched for the others first. */
  readonly quiet: Uint8Array
  readonly #states = new Map<string, State>()
  readonly #idle: (State | undefined)[] = []
  readonly #seen: Int32Array
  readonly #kept: Int32Array
  readonly #stack: number[] = []
  #round = 0
  #cells = 0

  constructor(pattern: RE2JS) {
    this.program = readProgram(pattern)
    this.#seen = new Int32Array(this.program.ops.length)
    this.#kept = new Int32Array(this.program.ops.length)
    const classes = new Set(this.program.latin)
    const quiet = new Set([...classes].filter((cls) => this.#isQuiet(cls)))
    this.quiet = Uint8Array.from(this.program.latin, (cls) => (quiet.has(cls) ? 1 : 0))
  }

  /** The state without threads. */
  idle(kind: number): State {
    this.#idle[kind] ??= this.#intern({ pcs: [], groups: [] }, this.program.hasConditions ? kind : KIND.other, true)
    return this.#idle[kind]
  }

  /** Threads of `state` from group `from` on, renumbered. */
  withoutFirstGroups(state: State, from: number): State {
    const first = state.groups.findIndex((group) => group >= from)
    const kept = first < 0 ? state.pcs.length : first
    const groups = Array.from(state.groups.subarray(kept), (group) => group - from)
    return this.#intern({ pcs: Array.from(state.pcs.subarray(kept)), groups }, state.kind, state.searching)
  }

  /** The state without the threads of some instructions, as a step over nothing. */
  without(state: State, left: Int32Array): Step {
    this.#round++
    for (const pc of left) this.#kept[pc] = this.#round
    const pcs: number[] = []
    const groups: number[] = []
    const moves: number[] = []
    state.pcs.forEach((pc, index) => {
      if (this.#kept[pc] === this.#round) return
      const group = state.groups[index]!
      if (moves.at(-1) !== group) moves.push(group)
      pcs.push(pc)
      groups.push(moves.length - 1)
    })
    const to = this.#intern({ pcs, groups }, state.kind, state.searching)
    return { to, moves: Uint16Array.from(moves), match: -1, plain: false }
  }

  /** The threads of `watched` and those of `state` below group `below`, as one group that finds no further beginning. */
  watch(watched: State | undefined, state: State, below: number): State {
    const pcs = new Set(watched?.pcs)
    state.pcs.forEach((pc, index) => {
      if (state.groups[index]! < below) pcs.add(pc)
    })
    const sorted = [...pcs].sort((a, b) => a - b)
    return this.#intern({ pcs: sorted, groups: sorted.map(() => 0) }, state.kind, false)
  }

  /** The step of `state` with a code point of class `cls`; `classCount` is the end of the text. */
  computeStep(state: State, cls: number): Step {
    const { program } = this
    const conditions = program.hasConditions ? conditionsBetween(state.kind, this.#kindOf(cls)) : 0
    this.#round++
    const pcs: number[] = []
    const groups: number[] = []
    const moves: number[] = []
    let match = -1
    const add = (pc: number, group: number): boolean => {
      const before = pcs.length
      const found = this.#follow(pc, cls, conditions, pcs)
      if (pcs.length > before) {
        if (moves.at(-1) !== group) moves.push(group)
        while (groups.length < pcs.length) groups.push(moves.length - 1)
      }
      if (found) match = group
      return found
    }
    // A match ends all threads of lower priority.
    const isOver = state.pcs.some((pc, index) => add(pc, state.groups[index]!))
    if (!isOver && state.searching) add(program.start, state.groupCount)
    const isEnd = cls === program.classCount
    const to = this.#intern({ pcs, groups }, isEnd ? KIND.other : program.kinds[cls]!, state.searching && match < 0)
    const isIdentity = moves.every((group, index) => group === index && group < state.groupCount)
    const step: Step = {
      to,
      moves: isIdentity ? undefined : Uint16Array.from(moves),
      match,
      plain: isIdentity && match < 0 && !to.isDead,
    }
    state.steps[cls] = step
    return step
  }

  endStep(state: State): Step {
    const { classCount } = this.program
    return state.steps[classCount] ?? this.computeStep(state, classCount)
  }

  /** Whether a match of the first group ends at a state, whatever comes next. */
  readonly matchesHere = (state: State): boolean => {
    this.#round++
    const ignored: number[] = []
    for (let i = 0; i < state.pcs.length && state.groups[i] === 0; i++) {
      if (this.#follow(state.pcs[i]!, this.program.classCount, 0, ignored)) return true
    }
    return false
  }

  #isQuiet(cls: number): boolean {
    return Object.values(KIND).every((kind) => {
      const step = this.idle(kind).steps[cls] ?? this.computeStep(this.idle(kind), cls)
      return step.to.idle && step.match < 0
    })
  }

  #kindOf(cls: number): number {
    return cls === this.program.classCount ? KIND.begin : this.program.kinds[cls]!
  }

  /** Follows a thread to all instructions that it reaches without a code point, and over one of class `cls`. Returns whether it matches. */
  #follow(from: number, cls: number, conditions: number, pcs: number[]): boolean {
    const { ops, out, arg, sets, classCount } = this.program
    const stack = this.#stack
    const round = this.#round
    stack.length = 0
    stack.push(from)
    while (stack.length > 0) {
      const pc = stack.pop()!
      if (this.#seen[pc] === round) continue
      this.#seen[pc] = round
      switch (ops[pc]) {
        case OP.alt:
        case OP.altMatch:
          stack.push(arg[pc]!, out[pc]!)
          break
        case OP.nop:
        case OP.capture:
          stack.push(out[pc]!)
          break
        case OP.condition:
          if ((arg[pc]! & ~conditions) === 0) stack.push(out[pc]!)
          break
        case OP.match:
          return true
        case OP.rune: {
          const target = out[pc]!
          if (cls < classCount && sets[arg[pc]!]![cls] === 1 && this.#kept[target] !== round) {
            this.#kept[target] = round
            pcs.push(target)
          }
        }
      }
    }
    return false
  }

  #intern(threads: Threads, kind: number, searching: boolean): State {
    const key = `${kind}${searching ? '+' : '-'}${threads.pcs.join()};${threads.groups.join()}`
    const known = this.#states.get(key)
    if (known !== undefined) return known
    const state = new State(threads, kind, searching, this.program.classCount)
    this.#cells += threads.pcs.length * 4 + this.program.classCount + 32
    if (this.#cells > MAX_CACHED_CELLS) {
      this.#states.clear()
      this.#idle.length = 0
      this.#cells = 0
    }
    this.#states.set(key, state)
    return state
  }
}

/** The conditions that hold between what stands before and after; `KIND.begin` after: the end of the text. */
function conditionsBetween(before: number, after: number): number {
  let conditions = (before === KIND.word) === (after === KIND.word) ? CONDITION.noWordBoundary : CONDITION.wordBoundary
  if (before === KIND.begin) conditions |= CONDITION.beginText | CONDITION.beginLine
  if (before === KIND.newline) conditions |= CONDITION.beginLine
  if (after === KIND.begin) conditions |= CONDITION.endText | CONDITION.endLine
  if (after === KIND.newline) conditions |= CONDITION.endLine
  return conditions
}
