/** Problems of expressions. Codes are stable. */
export type ProblemCode =
  | 'too-long'
  | 'too-deep'
  | 'syntax'
  | 'literal'
  | 'macro'
  | 'undeclared'
  | 'unavailable'
  | 'unknown-field'
  | 'no-overload'
  | 'type-mismatch'
  | 'unexpected-type'
  | 'invalid-pattern'
  | 'constant'
  | 'never-equal'
  | 'never-true'
  | 'always-fails'

/** A message about a position in an expression. */
export interface Note {
  readonly message: string
  /** 1-based. */
  readonly line: number
  /** 1-based, in code points. */
  readonly column: number
  /** 0-based range in the source, in UTF-16 code units, for editors. */
  readonly start: number
  readonly end: number
  /** The source line, and below it a line with a caret at the column. */
  readonly caret: string
}

export interface Problem extends Note {
  readonly severity: 'error' | 'warning'
  readonly code: ProblemCode
  /** Suggested replacement for the range; presented as "did you mean ...?". */
  readonly suggestion?: string
}

const MAX_PROBLEMS = 100

/** Collects the problems of one source text and determines their positions. */
export class ProblemList {
  readonly #source: string
  readonly #problems: Problem[] = []
  readonly #seen = new Set<string>()

  constructor(source: string) {
    this.#source = source
  }

  get problems(): readonly Problem[] {
    return this.#problems
  }

  get hasErrors(): boolean {
    return this.#problems.some((problem) => problem.severity === 'error')
  }

  error(code: ProblemCode, range: Range, message: string, suggestion?: string): void {
    this.#add('error', code, range, message, suggestion)
  }

  warn(code: ProblemCode, range: Range, message: string, suggestion?: string): void {
    this.#add('warning', code, range, message, suggestion)
  }

  #add(severity: Problem['severity'], code: ProblemCode, range: Range, message: string, suggestion?: string): void {
    // Several problems at one position are reported once.
    const key = `${range.start}:${code === 'syntax' ? code : message}`
    if (this.#seen.has(key) || this.#problems.length >= MAX_PROBLEMS) return
    this.#seen.add(key)
    const problem = { severity, code, ...noteAt(this.#source, range, message) }
    this.#problems.push(suggestion === undefined ? problem : { ...problem, suggestion })
  }
}

export interface Range {
  readonly start: number
  readonly end: number
}

export function noteAt(source: string, { start, end }: Range, message: string): Note {
  return { message, ...locate(source, start), start, end }
}

function locate(source: string, offset: number): { line: number; column: number; caret: string } {
  const before = source.slice(0, offset).split(/\r\n|\r|\n/)
  const head = before[before.length - 1]!
  const tail = /^[^\r\n]*/.exec(source.slice(offset))![0]
  const indent = [...head].map((char) => (char === '\t' ? '\t' : ' ')).join('')
  return { line: before.length, column: [...head].length + 1, caret: `${head}${tail}\n${indent}^` }
}
