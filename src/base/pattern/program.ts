import type { RE2JS } from 're2js'

/** Operations of a compiled pattern. The numbers are those of the library. */
export const OP = {
  alt: 1,
  altMatch: 2,
  capture: 3,
  condition: 4,
  fail: 5,
  match: 6,
  nop: 7,
  rune: 8,
  rune1: 9,
  any: 10,
  anyNotNewline: 11,
} as const

/** Conditions of zero width, as bits of `Program.arg`. */
export const CONDITION = {
  beginLine: 1,
  endLine: 2,
  beginText: 4,
  endText: 8,
  wordBoundary: 16,
  noWordBoundary: 32,
} as const

/** What stands before a position, as far as conditions can tell. */
export const KIND = { other: 0, word: 1, newline: 2, begin: 3 } as const

/** Each character of a text may visit all states. */
const MAX_STATES = 10_000

/** A pattern as a program for an automaton: code points are grouped into classes that no instruction tells apart. */
export interface Program {
  readonly start: number
  readonly ops: Uint8Array
  readonly out: Int32Array
  /** `alt`: the second branch. `condition`: the required bits. Runes: the index of their set. */
  readonly arg: Int32Array
  /** For each set, by class, whether it contains the class. */
  readonly sets: readonly Uint8Array[]
  readonly classCount: number
  /** By class, what it is to conditions (`KIND`); all the same if the program has no conditions. */
  readonly kinds: Uint8Array
  /** The class of each code point below 256. */
  readonly latin: Uint16Array
  /** First code points of the intervals, ascending, and the class of each. */
  readonly intervalStarts: Int32Array
  readonly intervalClasses: Uint16Array
  readonly hasConditions: boolean
  /** Each match begins with this text; empty: nothing known. */
  readonly prefix: string
  /** The length of the longest match in UTF-8; Infinity: unbounded. */
  readonly maxBytes: number
}

/** What this project reads of a compiled pattern of the library. */
interface LibraryProgram {
  readonly start: number
  readonly inst: readonly LibraryInstruction[]
}

interface LibraryInstruction {
  readonly op: number
  readonly out: number
  readonly arg: number
  readonly runes: Int32Array
  matchRune(rune: number): boolean
}

function readLibraryProgram(pattern: RE2JS): LibraryProgram {
  return (pattern.re2Input as unknown as { readonly prog: LibraryProgram }).prog
}

/** Why a pattern is too large to run; undefined: it is not. */
export function describeSizeFault(pattern: RE2JS): string | undefined {
  const { length } = readLibraryProgram(pattern).inst
  if (length <= MAX_STATES) return undefined
  return `compiles to ${length} states; at most ${MAX_STATES} are allowed: repeat less, or a smaller part`
}

export function readProgram(pattern: RE2JS): Program {
  const { start, inst } = readLibraryProgram(pattern)
  const size = inst.length
  const ops = new Uint8Array(size)
  const out = new Int32Array(size)
  const arg = new Int32Array(size)
  const ranges: Int32Array[] = []
  const setByKey = new Map<string, number>()
  let hasConditions = false
  inst.forEach((instruction, pc) => {
    ops[pc] = instruction.op
    out[pc] = skipEmpty(inst, instruction.out)
    arg[pc] = instruction.arg
    if (instruction.op === OP.condition) hasConditions = true
    if (instruction.op < OP.rune) return
    const key = `${instruction.op},${instruction.arg & 1},${instruction.runes.join()}`
    let set = setByKey.get(key)
    if (set === undefined) {
      set = ranges.length
      ranges.push(readRanges(instruction))
      setByKey.set(key, set)
    }
    ops[pc] = OP.rune
    arg[pc] = set
  })
  const first = skipEmpty(inst, start)
  return {
    start: first,
    ops,
    out,
    arg,
    ...partition(ranges, hasConditions),
    hasConditions,
    prefix: readPrefix(inst, start),
    maxBytes: measureLongest(first, ops, out, arg, ranges),
  }
}

/** The first instruction from `pc` on that does something. */
function skipEmpty(inst: readonly LibraryInstruction[], pc: number): number {
  while (inst[pc]!.op === OP.nop || inst[pc]!.op === OP.capture) pc = inst[pc]!.out
  return pc
}

const LAST_CODE_POINT = 0x10ffff
const ANY = Int32Array.of(0, LAST_CODE_POINT)
const ANY_NOT_NEWLINE = Int32Array.of(0, 9, 11, LAST_CODE_POINT)

/** Bit of `arg` of a rune: letter case does not matter. */
const FOLD_CASE = 1

/** The code points that an instruction accepts, as ascending pairs of first and last. */
function readRanges(instruction: LibraryInstruction): Int32Array {
  const { op, arg, runes } = instruction
  if (op === OP.any) return ANY
  if (op === OP.anyNotNewline) return ANY_NOT_NEWLINE
  if (runes.length !== 1) return Int32Array.from(runes)
  if ((arg & FOLD_CASE) === 0) return Int32Array.of(runes[0]!, runes[0]!)
  const folded = listCased().filter((rune) => instruction.matchRune(rune))
  return Int32Array.from(folded.flatMap((rune) => [rune, rune]))
}

let cased: number[] | undefined

/** All code points that have another letter case. */
function listCased(): number[] {
  cased ??= Array.from({ length: 0x20000 }, (_, rune) => rune).filter((rune) => {
    const text = String.fromCodePoint(rune)
    return text.toLowerCase() !== text || text.toUpperCase() !== text
  })
  return cased
}

type Classes = Pick<Program, 'sets' | 'classCount' | 'kinds' | 'latin' | 'intervalStarts' | 'intervalClasses'>

const NEWLINE = Int32Array.of(0x0a, 0x0a)
/** Words of `\b` are ASCII (RE2). */
const WORD = Int32Array.of(0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a)

/** Groups all code points into as few classes as the sets, and the conditions, tell apart. */
function partition(ranges: readonly Int32Array[], hasConditions: boolean): Classes {
  const told = hasConditions ? [...ranges, NEWLINE, WORD] : ranges
  const bounds = new Set([0])
  for (const set of told) {
    set.forEach((bound, index) => {
      bounds.add(index % 2 === 0 ? bound : bound + 1)
    })
  }
  const intervalStarts = Int32Array.from(bounds).sort()
  const ids = new Int32Array(intervalStarts.length)
  let idCount = 1
  for (const set of told) {
    const split = new Map<number, number>()
    forEachInterval(intervalStarts, set, (interval) => {
      const old = ids[interval]!
      if (!split.has(old)) split.set(old, idCount++)
      ids[interval] = split.get(old)!
    })
  }
  const classById = new Map<number, number>()
  const intervalClasses = Uint16Array.from(ids, (id) => {
    if (!classById.has(id)) classById.set(id, classById.size)
    return classById.get(id)!
  })
  const classCount = classById.size
  const members = told.map((set) => {
    const classes = new Uint8Array(classCount)
    forEachInterval(intervalStarts, set, (interval) => {
      classes[intervalClasses[interval]!] = 1
    })
    return classes
  })
  const kinds = new Uint8Array(classCount)
  if (hasConditions) {
    const [newline, word] = members.slice(-2) as [Uint8Array, Uint8Array]
    for (let cls = 0; cls < classCount; cls++) {
      kinds[cls] = newline[cls] === 1 ? KIND.newline : word[cls] === 1 ? KIND.word : KIND.other
    }
  }
  const table = { intervalStarts, intervalClasses }
  return {
    ...table,
    sets: members.slice(0, ranges.length),
    classCount,
    kinds,
    latin: Uint16Array.from({ length: 256 }, (_, rune) => findClass(table, rune)),
  }
}

function forEachInterval(starts: Int32Array, set: Int32Array, use: (interval: number) => void): void {
  for (let range = 0; range < set.length; range += 2) {
    const last = set[range + 1]!
    for (let i = findInterval(starts, set[range]!); i < starts.length && starts[i]! <= last; i++) use(i)
  }
}

/** The last interval that begins at or before `rune`. */
function findInterval(starts: Int32Array, rune: number): number {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (starts[middle]! <= rune) low = middle
    else high = middle - 1
  }
  return low
}

/** The class of any code point. */
export function findClass(table: Pick<Program, 'intervalStarts' | 'intervalClasses'>, rune: number): number {
  return table.intervalClasses[findInterval(table.intervalStarts, rune)]!
}

/** The literal with which each match begins. Conditions do not consume text, so they may stand before and within it. */
function readPrefix(inst: readonly LibraryInstruction[], start: number): string {
  let prefix = ''
  for (let pc = start; ; ) {
    const { op, out, arg, runes } = inst[pc]!
    const isLiteral = (op === OP.rune || op === OP.rune1) && runes.length === 1 && (arg & FOLD_CASE) === 0
    if (isLiteral) prefix += String.fromCodePoint(runes[0]!)
    else if (op !== OP.nop && op !== OP.capture && op !== OP.condition) return prefix
    pc = out
  }
}

/** The longest way from `start` to a match, in bytes of UTF-8. */
function measureLongest(
  start: number,
  ops: Uint8Array,
  out: Int32Array,
  arg: Int32Array,
  ranges: readonly Int32Array[],
): number {
  const open = -2
  const unknown = -1
  const longest = new Float64Array(ops.length).fill(unknown)
  const widths = ranges.map((set) => utf8Width(set.at(-1) ?? 0))
  const stack = [start]
  while (stack.length > 0) {
    const pc = stack.at(-1)!
    const op = ops[pc]!
    const next =
      op === OP.match || op === OP.fail ? [] : op === OP.alt || op === OP.altMatch ? [out[pc]!, arg[pc]!] : [out[pc]!]
    if (longest[pc] === unknown) {
      longest[pc] = open
      for (const target of next) {
        if (longest[target] === open) return Number.POSITIVE_INFINITY
        if (longest[target] === unknown) stack.push(target)
      }
      continue
    }
    stack.pop()
    if (longest[pc] !== open) continue
    const width = op === OP.rune ? widths[arg[pc]!]! : 0
    longest[pc] = width + Math.max(0, ...next.map((target) => longest[target]!))
  }
  return longest[start]!
}

function utf8Width(rune: number): number {
  if (rune < 0x80) return 1
  if (rune < 0x800) return 2
  return rune < 0x10000 ? 3 : 4
}
