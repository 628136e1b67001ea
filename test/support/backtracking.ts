/** For each character. */
const MAX_STEPS = 1000

/**
 * An engine that backtracks, remembers nothing and counts its steps: the worst that an engine of that kind does. It reads groups without capture,
 * classes, `\b`, `\d`, `?`, `+` and counted repetitions, all greedy.
 */
export function searchBacktracking(source: string, text: string): { readonly steps: number; readonly found: string[] } {
  const found: string[] = []
  let steps = 0
  const count = () => {
    if (++steps > MAX_STEPS * text.length) throw new Error('too many steps')
  }
  const match = new Parser(source, text, count).read()
  for (let from = 0; from < text.length; ) {
    let end = from
    const ended = (at: number) => {
      end = at
      return true
    }
    if (match(from, ended)) found.push(text.slice(from, end))
    from = Math.max(from + 1, end)
  }
  return { steps, found }
}

/** Matches at a position and goes on behind it. Returns whether all of it matched. */
type Part = (at: number, next: (at: number) => boolean) => boolean

class Parser {
  readonly #source: string
  readonly #text: string
  readonly #count: () => void
  #at = 0

  constructor(source: string, text: string, count: () => void) {
    this.#source = source
    this.#text = text
    this.#count = count
  }

  read(): Part {
    const branches = [this.#readSequence()]
    while (this.#take(/\|/y) !== undefined) branches.push(this.#readSequence())
    return branches.reduceRight((rest, branch) => (at, next) => branch(at, next) || rest(at, next))
  }

  #readSequence(): Part {
    const parts: Part[] = []
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source[this.#at]!)) parts.push(this.#readRepeated())
    return parts.reduceRight((rest, part) => (at, next) => part(at, (end) => rest(end, next)))
  }

  #readRepeated(): Part {
    const part = this.#readOne()
    const times = this.#take(/\?|\+|\{(\d+)(?:,(\d+))?\}/y)
    if (times === undefined) return part
    const [sign, least, most = least] = times
    if (sign === '?') return repeat(part, 0, 1)
    return sign === '+' ? repeat(part, 1, Number.POSITIVE_INFINITY) : repeat(part, Number(least), Number(most))
  }

  #readOne(): Part {
    if (this.#take(/\(\?:/y) !== undefined) {
      const group = this.read()
      if (this.#take(/\)/y) === undefined) throw new Error('a group is open')
      return group
    }
    const token = this.#take(/\\b|\\d|\\\.|\[[^\]]+\]|[@\w -]/y)?.[0]
    if (token === undefined) throw new Error(`cannot read ${this.#source.slice(this.#at)}`)
    const text = this.#text
    const one = new RegExp(token, 'y')
    const width = token === '\\b' ? 0 : 1
    return (at, next) => {
      this.#count()
      one.lastIndex = at
      return one.test(text) && next(at + width)
    }
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const taken = pattern.exec(this.#source) ?? undefined
    this.#at += taken?.[0].length ?? 0
    return taken
  }
}

function repeat(part: Part, least: number, most: number): Part {
  const from =
    (times: number): Part =>
    (at, next) =>
      (times < most && part(at, (end) => from(times + 1)(end, next))) || (times >= least && next(at))
  return from(0)
}
