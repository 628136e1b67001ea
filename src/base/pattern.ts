import { RE2JS, RE2JSSyntaxException } from 're2js'

/** Compiles a regular expression in RE2 syntax; it matches in linear time. Undefined: it is invalid, see `describePatternFault`. */
export function compilePattern(source: string): RE2JS | undefined {
  try {
    return RE2JS.compile(source)
  } catch {
    return undefined
  }
}

/** Why a pattern does not compile, with the position inside the pattern (the first character is 1); undefined: it compiles. */
export function describePatternFault(source: string): string | undefined {
  const fault = faultOf(source)
  if (fault === undefined) return undefined
  const { error, input } = fault
  const describe = Object.hasOwn(DESCRIPTIONS, error) ? DESCRIPTIONS[error as keyof typeof DESCRIPTIONS] : undefined
  if (describe === undefined) return error
  const { start, text, problem } = describe(source, input)
  return `${JSON.stringify(text).replaceAll('\\\\', '\\')} at character ${characterAt(source, start)} ${problem}`
}

interface Fault {
  readonly error: string
  /** The part of the pattern that the library names. */
  readonly input: string
}

interface Description {
  readonly start: number
  readonly text: string
  readonly problem: string
}

function faultOf(source: string): Fault | undefined {
  try {
    RE2JS.compile(source)
    return undefined
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) return { error: String(error), input: source }
    return { error: error.error, input: error.input ?? '' }
  }
}

type Describe = (source: string, input: string) => Description

/** By error of the library. */
const DESCRIPTIONS = {
  'missing closing )': (source) => ({
    ...parenthesis(source, 'unclosed'),
    text: '(',
    problem: 'has no closing ")"; write \\( for the character',
  }),
  'unexpected )': (source) => ({
    ...parenthesis(source, 'unopened'),
    text: ')',
    problem: 'has no opening "("; write \\) for the character',
  }),
  'missing closing ]': (source, input) => ({
    start: source.length - input.length,
    text: '[',
    problem: 'has no closing "]"; write \\[ for the character',
  }),
  'invalid or unsupported Perl syntax': (source, input) => located(source, input, foreignGroup(input)),
  'invalid named capture': (source, input) => {
    const isLookBehind = /^\(\?<[=!]/.test(input)
    return {
      start: source.indexOf(input),
      text: isLookBehind ? input.slice(0, 4) : input,
      problem: isLookBehind ? LOOK_AROUND : 'is not a group with a name; write (?P<name>...)',
    }
  },
  'invalid escape sequence': (source, input) => located(source, input, foreignEscape(input)),
  'trailing backslash at end of expression': (source) => ({
    start: source.length - 1,
    text: '\\',
    problem: 'escapes nothing; write \\\\ for the character',
  }),
  'missing argument to repetition operator': (source, input) =>
    located(source, input, `has nothing to repeat; write \\${input[0] ?? ''} for the character`),
  'invalid nested repetition operator': (source, input) =>
    located(source, input, 'repeats a repetition, which RE2 does not have; use a group: (?:...)'),
  'invalid repeat count': (source, input) =>
    located(
      source,
      input,
      'is not a valid number of repetitions: RE2 repeats at most 1000 times, with repetitions of a repetition multiplied, and the larger number is the second',
    ),
  'invalid character class range': (source, input) =>
    located(
      source,
      input,
      /^\[:|^\\/.test(input) ? 'is not a character class that RE2 has' : 'is not an ascending range',
    ),
  'duplicate capture group name': (source, input) => ({
    start: source.indexOf(`<${input}>`, source.indexOf(`<${input}>`) + 1) + 1,
    text: input,
    problem: 'is the name of another group, too',
  }),
} satisfies Readonly<Record<string, Describe>>

const LOOK_AROUND = 'looks around, which RE2 does not have'

function foreignGroup(input: string): string {
  if (/^\(\?[=!]/.test(input)) return LOOK_AROUND
  if (input === '(?>') return 'is an atomic group, which RE2 does not have and does not need'
  if (input === '(?#') return 'is a comment, which RE2 does not have'
  return 'is not a group that RE2 has; groups are (...), (?:...), (?P<name>...) and (?i:...) with flags of i, m, s and U'
}

function foreignEscape(input: string): string {
  if (/^\\[1-9k]/.test(input)) return 'refers back to a group, which RE2 does not have'
  if (input === '\\Z') return 'is not an escape that RE2 has; write \\z for the end of the text'
  if (input === '\\u') return 'is not an escape that RE2 has; write \\x{...} for a character by its number'
  return 'is not an escape that RE2 has'
}

const MAX_TRIED = 16

/** The part that the library names may occur several times: the pattern up to its end has the same fault only at the right place. */
function located(source: string, input: string, problem: string): Description {
  const first = source.indexOf(input)
  let start = first
  for (let tried = 0; start >= 0 && tried < MAX_TRIED; tried++) {
    const fault = faultOf(source.slice(0, start + input.length))
    if (fault?.input === input) return { start, text: input, problem }
    start = source.indexOf(input, start + 1)
  }
  return { start: Math.max(first, 0), text: input, problem }
}

/** An escape, quoted text, a class (its first character may be `]`), or a parenthesis. */
const TOKENS = /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|[()]/gs

/** The innermost group that is not closed, or the first parenthesis that closes none. */
function parenthesis(source: string, wanted: 'unclosed' | 'unopened'): Pick<Description, 'start'> {
  const open: number[] = []
  for (const { 0: token, index } of source.matchAll(TOKENS)) {
    if (token === '(') open.push(index)
    if (token === ')' && open.pop() === undefined && wanted === 'unopened') return { start: index }
  }
  return { start: open.at(-1) ?? 0 }
}

function characterAt(source: string, index: number): number {
  return [...source.slice(0, index)].length + 1
}
