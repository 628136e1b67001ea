import type { Accepted } from './accepted.ts'

type Change = readonly [line: string, original: string, replacement: string]

const entriesOf = (file: string, reason: string, changes: readonly Change[]): readonly Accepted[] =>
  changes.map(([line, original, replacement]) => ({
    file: `protocols/llm/${file}.ts`,
    line,
    original,
    replacement,
    reason,
  }))

const DIVIDES = 'only how long work is divided'
const NO_CHILDREN = 'the same program: a number and a literal have no children'
const PLAIN = "const plain = rest.includes('%') ? decodePercent(rest) : rest"
const DECODES = "return json.includes('\\\\') ? (parseJson(json) as string) : json.slice(1, -1)"
const BEGINS_BINARY =
  'if (sample === undefined || wideCoding(sample) !== undefined || !BINARY.test(lenient.decode(sample))) return false'
const IS_UTF8 = "new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: true })"
const SKIPS = 'if (!isText && data.length > 2 * SAMPLE_LENGTH && isBinary(decodeBase64(data.slice(0, SAMPLE_LENGTH))))'
const FAULTS = "return damaged.split('\\ufffd', damaged.length / 4 + 1).length <= damaged.length / 4"
const HAS_NO_FACTS = 'if (!isRead && (found & (HAS_USAGE | HAS_ERROR | HAS_FINISH)) === 0) return true'
const IS_OBJECT = "} else if (value.kind === 'object') {"

/** In the texts of bodies, and in readers of answers. */
export const ACCEPTED_TEXTS: readonly Accepted[] = [
  ...entriesOf('texts/argument-texts', DIVIDES, [['const WORK_PER_STRING = 256', '256', '(256 + 1)']]),
  ...entriesOf('texts/argument-texts', 'only speed: the same text', [
    [DECODES, "json.includes('\\\\')", 'true'],
    [DECODES, "'\\\\'", "''"],
  ]),
  ...entriesOf('texts/schema-texts', NO_CHILDREN, [[IS_OBJECT, "value.kind === 'object'", 'true']]),
  ...entriesOf('texts/text-walk', NO_CHILDREN, [
    [IS_OBJECT, "value.kind === 'object'", 'true'],
    ["else if (value.kind === 'object') {", "value.kind === 'object'", 'true'],
  ]),
  ...entriesOf('texts/file-data', 'only speed: no part after the first one is used', [
    ["return TEXTUAL.test(mediaType.split(';', 1)[0]!.trim().toLowerCase())", '1', '(1 + 1)'],
    ["const given = about.split(';', 1)[0]!", '1', '(1 + 1)'],
    [FAULTS, '/', '*'],
    [FAULTS, '1', '(1 + 1)'],
  ]),
  ...entriesOf('texts/file-data', 'only speed: there is nothing to decode', [
    [PLAIN, "rest.includes('%')", 'true'],
    [PLAIN, "'%'", "''"],
  ]),
  ...entriesOf('texts/file-data', 'only speed: the whole file is examined instead of its beginning, or both', [
    ['const SAMPLE_LENGTH = 4096', '4096', '(4096 + 1)'],
    [BEGINS_BINARY, BEGINS_BINARY.slice('if ('.length, -') return false'.length), 'true'],
    [BEGINS_BINARY, '===', '!=='],
    [IS_UTF8, IS_UTF8, ';'],
    [IS_UTF8, 'true', 'false'],
    ['return true', 'true', 'false'],
    [SKIPS, SKIPS.slice('if ('.length, -1), 'false'],
    [SKIPS, '>', '>='],
    [SKIPS, '>', '<='],
    [SKIPS, '2', '(2 + 1)'],
    [SKIPS, '*', '/'],
  ]),
  ...entriesOf('texts/text-walk', DIVIDES, [
    ['const WORK_PER_VALUE = 128', '128', '(128 + 1)'],
    ['const WORK_PER_RUN = 32', '32', '(32 + 1)'],
    ['const WORK_PER_PLACE = 4', '4', '(4 + 1)'],
    ['if (this.#pace.after(WORK_PER_PLACE)) yield', 'this.#pace.after(WORK_PER_PLACE)', 'true'],
    ...['WORK_PER_VALUE', 'WORK_PER_RUN', 'WORK_PER_PLACE'].flatMap((work): Change[] => {
      const line = `if (this.#pace.after(${work})) yield`
      return [
        [line, `this.#pace.after(${work})`, 'false'],
        [line, 'yield', ';'],
      ]
    }),
  ]),
  ...entriesOf('texts/text-walk', 'only speed: a list is copied', [
    ['const alone = unknown.length === 0 ? others : [...others, ...unknown]', 'unknown.length === 0', 'false'],
  ]),
  ...entriesOf('texts/text-walk', 'only speed: no member is read first', [
    ['if (first.length > 0) {', 'first.length > 0', 'true'],
  ]),
  ...entriesOf('texts/text-walk', 'never used: each value is visited within a run', [
    ["#run = new Run('user')", "'user'", "''"],
  ]),
  ...entriesOf('texts/text-walk', 'the same program: a role that is not known is that of a user', [
    ["if (role === 'role') return new Run(roleNamed(given ?? 'user'))", "'user'", "''"],
  ]),
  ...entriesOf('texts/walked-place', 'never used: the outermost value has no step', [
    ['constructor(value: JsonValue, parent?: Location, index = 0, name?: string) {', '0', '(0 + 1)'],
  ]),
  ...entriesOf('facts/kept-answer', 'the same program: what is no text cannot be parsed', [
    [
      "return { id, name, arguments: typeof given === 'string' ? parseOr(given) : given }",
      "typeof given === 'string'",
      'true',
    ],
  ]),
  ...entriesOf('answer/stream-answer', 'never used: they are set with each piece', [
    ['#from = 0', '0', '(0 + 1)'],
    ['#to = 0', '0', '(0 + 1)'],
  ]),
  ...entriesOf('answer/stream-answer', 'the same program: a block that begins elsewhere sets both', [
    ['this.#from = this.#to = start', 'this.#from = this.#to = start', ';'],
  ]),
  ...entriesOf('answer/stream-answer', 'the same program: data begins behind the name of its field', [
    ['if (block.dataStart < 0) return true', '<', '<='],
    ['if (block.dataStart < 0) return true', '0', '(0 + 1)'],
  ]),
  ...entriesOf('answer/stream-answer', 'the same program: nothing is found in no event', [
    ['if (event === undefined) return true', 'event === undefined', 'false'],
  ]),
  ...entriesOf('answer/stream-answer', 'only speed: an event without facts is read', [
    [HAS_NO_FACTS, '!isRead && (found & (HAS_USAGE | HAS_ERROR | HAS_FINISH)) === 0', 'false'],
    [HAS_NO_FACTS, '&', '|'],
  ]),
  ...entriesOf('answer/stream-answer', 'the same program: a stream that is not complete was reported so already', [
    [
      'return marksBreak && this.#isEnded && !this.#hasOutput && !saysWhy',
      'marksBreak && this.#isEnded',
      '((marksBreak) || (this.#isEnded))',
    ],
  ]),
  ...entriesOf('detect/response', 'the same program: nothing is found in no usage', [
    ['if (usage !== undefined) this.#readUsage(usage, facts)', 'usage !== undefined', 'true'],
  ]),
  ...entriesOf('answer/stream-answer', 'only memory: until the next piece', [
    ['this.#piece = undefined', 'this.#piece = undefined', ';'],
  ]),
]
