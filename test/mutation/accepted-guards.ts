import type { Accepted } from './accepted.ts'

const GUARDS = 'protocols/llm/guards'

type Change = readonly [line: string, original: string, replacement: string]

const entriesOf = (file: string, reason: string, changes: readonly Change[]): readonly Accepted[] =>
  changes.map(([line, original, replacement]) => ({
    file: `${GUARDS}/${file}.ts`,
    line,
    original,
    replacement,
    reason,
  }))

/** Lines that divide long work: the result is the same, and `bench/guards/stretches.ts` measures how long a step takes. */
function dividing(file: string, works: readonly string[], others: readonly Change[] = []): readonly Accepted[] {
  const lines = works.flatMap((work): Change[] => {
    const line = `if (pace.after(${work})) yield`
    return [
      [line, `pace.after(${work})`, 'true'],
      [line, `pace.after(${work})`, 'false'],
      [line, 'yield', ';'],
    ]
  })
  return entriesOf(file, 'only how long work is divided', [...lines, ...others])
}

const NEXT_TEXT = 'for (; this.#ends[index]! <= start; index++) if (pace.after(1)) yield'
const SEARCHED_LINE = 'const searched = after.length + (found >= 0 ? before.length : 0)'
const ONLY_LINE = 'return index >= 0 && text.indexOf(part, index + 1) < 0 ? index : -1'
const DIVIDING: readonly Accepted[] = [
  {
    file: 'protocols/llm/providers/edit-messages-body.ts',
    line: 'if (pace.after(WORK_PER_VALUE)) yield',
    original: 'yield',
    replacement: ';',
    reason: 'only how long work is divided',
  },
  ...entriesOf('stream/event-template', 'only speed: other bytes are UTF-8', [
    ['if ((ofAll & WIDE) !== 0 && !isUtf8(bytes.subarray(from, to))) return undefined', '0', '(0 + 1)'],
  ]),
  ...['ask-service', 'guard-request', 'read-answer-body'].flatMap((file) =>
    entriesOf(file, 'only how long work is divided', [['yield', 'yield', ';']]),
  ),
  ...dividing(
    'services/mask-joined',
    ['WORK_PER_TEXT + length / COMPARED_PER_WORK'],
    [
      ['const WORK_PER_TEXT = 32', '32', '(32 + 1)'],
      ['const COMPARED_PER_WORK = 8', '8', '(8 + 1)'],
      ['if (pace.after(searched / COMPARED_PER_WORK)) yield', 'pace.after(searched / COMPARED_PER_WORK)', 'false'],
      ['if (pace.after(WORK_PER_TEXT + length / COMPARED_PER_WORK)) yield', '+', '-'],
    ],
  ),
  ...dividing('service-contents', ['content.length']),
  ...dividing('services/spread-mask', ['WORK_PER_TEXT'], [['const WORK_PER_TEXT = 4', '4', '(4 + 1)']]),
  ...dividing(
    'texts/many-texts',
    ['WORK_PER_TEXT + text.length / LOOKED_THROUGH', 'text.length', '1'],
    [
      ['const WORK_PER_TEXT = 32', '32', '(32 + 1)'],
      ['const LOOKED_THROUGH = 16', '16', '(16 + 1)'],
      ['if (pace.after(WORK_PER_TEXT + text.length / LOOKED_THROUGH)) yield', '+', '-'],
      [NEXT_TEXT, 'pace.after(1)', 'true'],
      [NEXT_TEXT, 'pace.after(1)', 'false'],
      [NEXT_TEXT, '1', '(1 + 1)'],
      [NEXT_TEXT, 'yield', ';'],
      ['if (pace.after(1)) yield', '1', '(1 + 1)'],
    ],
  ),
  ...dividing(
    'texts/guarded-texts',
    ['1', 'WORK_PER_COUNTED', 'WORK_PER_TEXT + text.length', 'WORK_PER_TEXT + place.end - place.start'],
    [
      ['const WORK_PER_TEXT = 128', '128', '(128 + 1)'],
      ['const WORK_PER_COUNTED = 4', '4', '(4 + 1)'],
      ['if (pace.after(1)) yield', '1', '(1 + 1)'],
      ['if (pace.after(WORK_PER_TEXT + text.length)) yield', '+', '-'],
    ],
  ),
  ...dividing('stream/guarded-blocks', ['WORK_PER_END'], [['const WORK_PER_END = 512', '512', '(512 + 1)']]),
  ...entriesOf('stream/guarding-stream-sink', 'only how long work is divided', [['yield', 'yield', ';']]),
  ...dividing(
    'stream/event-outbox',
    ['WORK_PER_PIECE', 'piece.original.length'],
    [
      ['const WORK_PER_PIECE = 32', '32', '(32 + 1)'],
      ['export const LONG_EVENT_BYTES = 4096', '4096', '(4096 + 1)'],
      ['const FEW_PIECES = 16', '16', '(16 + 1)'],
    ],
  ),
]

const STARTS_LINE =
  'while (length + PART <= most && one.slice(length, length + PART) === other.slice(length, length + PART))'
const ENDS_LINE = 'while (length + PART <= most && part(one) === part(other)) length += PART'

const LONG_LINE =
  'const text = place.end - place.start > PIECE_BYTES ? yield* decodeLong(bytes, place) : decodePlace(bytes, place)'

const DIGEST_LINE = 'const digest = sha256(bytes.subarray(part * DIGESTED_BYTES, (part + 1) * DIGESTED_BYTES))'

/** In the guards of prompts. */
export const ACCEPTED_GUARDS: readonly Accepted[] = [
  ...DIVIDING,
  ...entriesOf('texts/guarded-texts', 'the same text, decoded at once or in pieces', [
    [LONG_LINE, 'place.end - place.start > PIECE_BYTES', 'true'],
    [LONG_LINE, 'place.end - place.start > PIECE_BYTES', 'false'],
    [LONG_LINE, '-', '+'],
    [LONG_LINE, '>', '>='],
    [LONG_LINE, '>', '<='],
  ]),
  ...entriesOf('ask-service', 'other parts of the same text: its digest is still one of all of it', [
    ['const DIGESTED_BYTES = 32_768', '32_768', '(32_768 + 1)'],
    ['const DIGEST_BYTES = 32', '32', '(32 + 1)'],
    [DIGEST_LINE, '*', '/'],
    [DIGEST_LINE, '1', '(1 + 1)'],
  ]),
  ...entriesOf('stream/event-reader', 'the same text, decoded at once or in pieces', [
    ['const isLong = end - start > PIECE_BYTES', '>', '>='],
  ]),
  ...entriesOf('stream/guarding-stream-sink', 'only memory: it is free at the end of the call', [
    ['this.#input.drop()', 'this.#input.drop()', ';'],
  ]),
  ...entriesOf('stream/paced-input', 'only memory: it is free at the end of the call', [
    ['this.drop()', 'this.drop()', ';'],
  ]),
  ...entriesOf('services/mask-joined', 'a matter of degree: how much is searched for a boundary', [
    ...['24', '12', '6', '3'].map(
      (length): Change => ['const CONTEXTS = [24, 12, 6, 3].flatMap((length) => [', length, `(${length} + 1)`],
    ),
    ['{ left: length, right: 0 },', '0', '(0 + 1)'],
    ['{ left: 0, right: length },', '0', '(0 + 1)'],
    ['const SEARCHED_PER_CHARACTER = 64', '64', '(64 + 1)'],
    ['const SEARCHED_PER_TEXT = 4096', '4096', '(4096 + 1)'],
    ['const GROWTH = 2', '2', '(2 + 1)'],
    ['const MORE = 64', '64', '(64 + 1)'],
    ['#credit = 0', '0', '(0 + 1)'],
    ['if (this.#credit <= 0) return -1', '<=', '<'],
    ['if (this.#credit <= 0) return -1', '0', '(0 + 1)'],
    [SEARCHED_LINE, '+', '-'],
    [SEARCHED_LINE, 'found >= 0', 'true'],
    [SEARCHED_LINE, 'found >= 0', 'false'],
    [SEARCHED_LINE, '>=', '>'],
    [SEARCHED_LINE, '>=', '<'],
    [SEARCHED_LINE, '0', '(0 + 1)'],
    ['this.#credit += SEARCHED_PER_TEXT + length * SEARCHED_PER_CHARACTER', '*', '/'],
    [
      'const isSame = begin === this.#start && this.#after.startsWith(this.#before.slice(begin, this.#at + 1), this.#from)',
      '1',
      '(1 + 1)',
    ],
  ]),
  ...entriesOf('services/mask-joined', 'the same program: each negative number is no position', [
    ['if (this.#credit <= 0) return -1', '1', '(1 + 1)'],
    ['return -1', '1', '(1 + 1)'],
    [ONLY_LINE, '1', '(1 + 1)'],
  ]),
  ...entriesOf(
    'services/mask-joined',
    'the same program: another one is behind the first one, so that it is not at 0',
    [
      [ONLY_LINE, '<', '<='],
      [ONLY_LINE, '0', '(0 + 1)'],
    ],
  ),
  ...entriesOf('services/mask-joined', 'only speed: no part of a text that is the same differs, either', [
    ['if (before === after) return true', 'before === after', 'false'],
  ]),
  ...entriesOf('texts/many-texts', 'the same program: a match is not empty, so that none begins where a text ends', [
    [NEXT_TEXT, '<=', '<'],
    ['for (; next < matches.length && matches[next]!.start < end; next++) {', '<', '<='],
  ]),
  ...entriesOf('texts/many-texts', 'the same program: each number but 0 says that a text has changed', [
    ['this.#changed[index] = 1', '1', '(1 + 1)'],
  ]),
  ...entriesOf('texts/many-texts', 'only memory, and how many texts are joined at a time', [
    ['const JOINED = 1024', '1024', '(1024 + 1)'],
    ['#ends = new Int32Array(8 * JOINED)', '8', '(8 + 1)'],
    ['#fixed = new Uint8Array(8 * JOINED)', '8', '(8 + 1)'],
    ['if (this.#open.length === JOINED) this.#join()', 'this.#open.length === JOINED', 'true'],
    ['if (this.#open.length === JOINED) this.#join()', 'this.#open.length === JOINED', 'false'],
    ['if (this.#open.length === JOINED) this.#join()', '===', '!=='],
    ['if (this.#open.length === JOINED) this.#join()', 'this.#join()', ';'],
    ['this.#fixed = new Uint8Array(2 * this.#count)', '2', '(2 + 1)'],
  ]),
  ...entriesOf('read-answer-body', 'only speed: the same text is written anew', [
    [
      'return written === json ? body : encode(parseJson(decodeText(written, 0, written.length)) as string)',
      'written === json',
      'false',
    ],
  ]),
  ...entriesOf('texts/many-texts', 'only speed: numeric rules search texts without a number, and find nothing', [
    [
      'const search = rule.isNumeric && !mayHaveNumber(text) ? undefined : rule.search(text)',
      'rule.isNumeric && !mayHaveNumber(text)',
      'false',
    ],
  ]),
  ...entriesOf('ask-service', 'only speed: one question has no other that could end it', [
    ['const needless = guards.length > 1 ? new AbortController() : undefined', '>', '>='],
    ['const needless = guards.length > 1 ? new AbortController() : undefined', 'guards.length > 1', 'true'],
  ]),
  ...entriesOf('services/spread-mask', 'only speed: what is not compared in parts is compared by characters', [
    ['const part = (text: string) => text.slice(text.length - length - PART, text.length - length)', '-', '+'],
    [STARTS_LINE, '<=', '<'],
    [STARTS_LINE, '<=', '>'],
    [
      STARTS_LINE,
      'length + PART <= most && one.slice(length, length + PART) === other.slice(length, length + PART)',
      'false',
    ],
    ['const PART = 4096', '4096', '(4096 + 1)'],
    [ENDS_LINE, '<=', '<'],
    [ENDS_LINE, 'length + PART <= most && part(one) === part(other)', 'false'],
  ]),
  ...entriesOf(
    'services/spread-mask',
    'the same program: the last parts of texts of different lengths differ, and other parts are compared by characters',
    [[STARTS_LINE, '+', '-']],
  ),
  ...entriesOf(
    'services/spread-mask',
    'the same program: behind the end of a text there is no unit, which equals nothing',
    [['while (length < most && one.charCodeAt(length) === other.charCodeAt(length)) length++', '<', '<=']],
  ),
  ...entriesOf('stages/service-stage', 'never used: it is set with the first text', [
    ['#lastMs = 0', '0', '(0 + 1)'],
    ['#openedMs = 0', '0', '(0 + 1)'],
  ]),
  ...entriesOf('stages/service-stage', 'never used: it is set before a window is judged', [
    ['#isDue = false', 'false', 'true'],
  ]),
  ...entriesOf('rules/candidate-rule', 'only speed: an empty list is replaced by another one', [
    ['if (found.length > 0) this.#found = []', 'found.length > 0', 'true'],
    ['if (found.length > 0) this.#found = []', '>', '>='],
    ['if (this.#pending.length > 0) {', 'this.#pending.length > 0', 'true'],
    ['if (this.#pending.length > 0) {', '>', '>='],
  ]),
  ...entriesOf(
    'rules/candidate-rule',
    'the same program: a match of its patterns has a longest length, so that text waits as long as a scanner is not idle',
    [
      ['if (this.#pending.length > 0) return false', 'this.#pending.length > 0', 'false'],
      ['if (this.#pending.length > 0) return false', '0', '(0 + 1)'],
      ['if (this.#pending.length > 0) return false', 'false', 'true'],
      ['for (const { isIdle } of this.#scanners) if (!isIdle) return false', '!isIdle', 'false'],
      ['for (const { isIdle } of this.#scanners) if (!isIdle) return false', 'false', 'true'],
    ],
  ),
  ...entriesOf('rules/candidate-rule', 'only memory: more of the text is kept than candidates need', [
    ['const dropped = this.settled - 1 - this.#base', '1', '(1 + 1)'],
    ['if (dropped <= 0) return', 'dropped <= 0', 'true'],
    ['if (dropped <= 0) return', '<=', '<'],
    ['if (dropped <= 0) return', '0', '(0 + 1)'],
  ]),
  ...entriesOf('rules/candidate-rule', 'never used: units below 256 are looked up', [
    [
      'return new Uint8Array(256).map((_, unit) => (all.every(({ quiet }) => quiet[unit] === 1) ? 1 : 0))',
      '256',
      '(256 + 1)',
    ],
  ]),
  ...entriesOf('services/judge-parts', 'the same program: there is no part behind the last one', [
    ['for (let from = 0; from < parts.length; from += AT_ONCE) {', '<', '<='],
  ]),
  ...entriesOf('services/moderation-endpoint', 'a matter of degree', [['const OVERLAP = 256', '256', '(256 + 1)']]),
  ...entriesOf('services/ask', 'the same program: the iterators of bodies have `return`', [
    ['await body[Symbol.asyncIterator]().return?.()', '?.', ''],
  ]),
  ...entriesOf('rules/candidate-rule', 'only how long work is divided', [['yield', 'yield', ';']]),
  ...entriesOf('rules/candidate-rule', 'only how long work is divided; matches that end together are the same', [
    ['if (pace.after(1)) yield', 'pace.after(1)', 'true'],
    ['if (pace.after(1)) yield', 'pace.after(1)', 'false'],
    ['if (pace.after(1)) yield', '1', '(1 + 1)'],
    ['if (pace.after(1)) yield', 'yield', ';'],
    ['else if (match.end > last.end) merged[merged.length - 1] = { start: last.start, end: match.end }', '>', '>='],
  ]),
  ...[
    ['const UNITS_PER_STEP = 32_768', '32_768', '(32_768 + 1)', 'only how long work is divided'],
    [
      'this.#context = near?.within ?? 1',
      '1',
      '(1 + 1)',
      'the same program: the unit before a position decides, however many are before it',
    ],
    [
      'for (let from = 0, ended = 0; from < text.length; ) {',
      '<',
      '<=',
      'the same program: there is nothing in the last part',
    ],
  ].map(([line, original, replacement, reason]) => ({
    file: 'base/pattern/own-pattern.ts',
    line: line!,
    original: original!,
    replacement: replacement!,
    reason: reason!,
  })),
  ...(
    [
      [
        'if (found.length === 0 || found.at(-1)!.end <= settled) return found',
        '<=',
        '<',
        'only speed: none of them is divided, so that another list has the same matches',
      ],
      [
        'if (found.length === 0 || found.at(-1)!.end <= settled) return found',
        'found.length === 0 || found.at(-1)!.end <= settled',
        'false',
        'only speed: none of them is divided, so that another list has the same matches',
      ],
      ['if (found.length > 0) this.#found = []', '>', '>=', 'only speed: an empty list is replaced by another one'],
      ['if (dropped <= 0) return', '<=', '<', 'only speed: nothing is cut off'],
      ['#matchEnd = -1', '1', '(1 + 1)', 'never used: it is set with the beginning of the match'],
      ['#reportedEnd = -1', '1', '(1 + 1)', 'never used: it is set with the beginning of the match'],
      ['this.#matchStart = -1', '1', '(1 + 1)', 'the same program: each negative number is no position'],
      [': -1', '1', '(1 + 1)', 'the same program: each negative number is no position'],
      [
        "const hasLiteral = program.prefix !== '' || this.#options.near !== undefined",
        "program.prefix !== '' || this.#options.near !== undefined",
        "((program.prefix !== '') && (this.#options.near !== undefined))",
        'only speed: the automaton reads what could be left out',
      ],
      [
        "const hasLiteral = program.prefix !== '' || this.#options.near !== undefined",
        '!==',
        '===',
        'only speed: the automaton reads what could be left out',
      ],
      [
        'this.#nextCandidate = found >= 0 ? found : Math.max(from, rest)',
        'this.#nextCandidate = found >= 0 ? found : Math.max(from, rest)',
        ';',
        'only speed: the automaton reads what could be left out',
      ],
      [
        'return to > from && isLowSurrogate(this.#text, to) ? to - 1 : to',
        'to > from && isLowSurrogate(this.#text, to)',
        '((to > from) || (isLowSurrogate(this.#text, to)))',
        'only speed: the automaton reads what could be left out',
      ],
      [
        'if (this.#matchStart >= 0 && this.#matchEnd < position - 1) this.#deadEnds.note(position, rest)',
        '1',
        '(1 + 1)',
        'only speed: the automaton reads what could be left out',
      ],
      ['work -= STEP_WORK + state.pcs.length', '+', '-', 'only how long work is divided'],
      [
        "const hasLiteral = program.prefix !== '' || this.#options.near !== undefined",
        "''",
        "'mutated'",
        'only speed: the automaton reads what could be left out',
      ],
      [
        'this.#nextCandidate = found >= 0 ? found : Math.max(from, rest)',
        'found >= 0',
        'true',
        'only speed: the automaton reads what could be left out',
      ],
    ] as const
  ).map(([line, original, replacement, reason]) => ({
    file: 'base/pattern/pattern-scanner.ts',
    line,
    original,
    replacement,
    reason,
  })),
  ...entriesOf('rules/phone-numbers', 'only speed: there is nothing but digits and their signs in a candidate', [
    ['parsePhoneNumberFromString(number, { defaultCountry, extract: false })?.isValid() === true', 'false', 'true'],
  ]),
  ...entriesOf('rules/phone-numbers', 'the same program: of all countries, one has groups, and both match or none', [
    ['return dialled[1] !== undefined || national.test(digits.slice(dialled[0].length))', '1', '(1 + 1)'],
  ]),
  ...entriesOf('rules/compile-rules', 'never used: without a pattern there is a fault', [
    [`if (pattern === undefined || fault !== undefined) report(\`.\${label}\`, fault ?? '')`, "''", "'mutated'"],
  ]),
  ...entriesOf('rules/searchable-text', 'only speed: rules that cannot match search all the same', [
    ['if (rule.isNumeric && !this.#mayHaveNumber) return undefined', 'rule.isNumeric && !this.#mayHaveNumber', 'false'],
    ['if (!this.has(NUMBER_IS_KNOWN)) {', '!this.has(NUMBER_IS_KNOWN)', 'true'],
  ]),
  ...(
    [
      ['const schema = policyDefinition(field.section, field.field)?.schema', '?.', '.'],
      ['if (schema === undefined) return []', 'schema === undefined', 'false'],
      ['if (schema === undefined) return []', '[]', 'undefined'],
    ] as const
  ).map(([line, original, replacement]) => ({
    file: 'control/policies/own-backends.ts',
    line,
    original,
    replacement,
    reason: 'never used: objects have only fields that have a definition',
  })),
  {
    file: `${GUARDS}/ask-service.ts`,
    line: '#sinceMs = 0',
    original: '0',
    replacement: '(0 + 1)',
    reason: 'never used: it is set when the first service is asked',
  },
  {
    file: `${GUARDS}/compile-guards.ts`,
    line: "if ('moderationEndpoint' in spec && spec.moderationEndpoint !== undefined) {",
    original: "'moderationEndpoint' in spec && spec.moderationEndpoint !== undefined",
    replacement: "(('moderationEndpoint' in spec) || (spec.moderationEndpoint !== undefined))",
    reason: 'the same program: a member that is there has a value',
  },
  {
    file: `${GUARDS}/guard-answer.ts`,
    line: 'this.#held.drop()',
    original: 'this.#held.drop()',
    replacement: ';',
    reason: 'only memory: the claim ends with the request',
  },
  {
    file: `${GUARDS}/guard-refusals.ts`,
    line: "const message = body === undefined || body === '' ? (guard.refusal.body ?? '') : body",
    original: "''",
    replacement: "'mutated'",
    reason: 'never used: the refusal of a guard has a body',
  },
  ...(
    [
      ...(['this.#isFinished', 'return'] as const).map(
        (original) =>
          [
            'guarded-block',
            'if (this.#isFinished) return',
            original,
            original === 'return' ? ';' : 'false',
            'the same program: stages that have ended ignore another end',
          ] as const,
      ),
      ['guarded-block', 'lastEvent = 0', '0', '(0 + 1)', 'never used: it is set with the first text'],
    ] as const
  ).map(([file, line, original, replacement, reason]) => ({
    file: `${GUARDS}/stream/${file}.ts`,
    line,
    original,
    replacement,
    reason,
  })),
  ...(
    [
      [
        'export const PIECE_BYTES = 65_536',
        '65_536',
        '(65_536 + 1)',
        'only the size of the pieces: what they make together is the same',
      ],
      [
        'const isEscaped = (slash - first) % 2 === 1',
        '-',
        '+',
        'the same program: both numbers are odd, or both are even',
      ],
      [
        "if (!text.includes('\\\\')) return text",
        "!text.includes('\\\\')",
        'false',
        'only speed: a text without a backslash is its own text',
      ],
      [
        "if (!text.includes('\\\\')) return text",
        "'\\\\'",
        "''",
        'only speed: a text without a backslash is its own text',
      ],
      [
        'while (end - at > PIECE_BYTES) {',
        '>',
        '>=',
        'only the size of the pieces: what they make together is the same',
      ],
    ] as const
  ).map(([line, original, replacement, reason]) => ({
    file: 'protocols/llm/json/json-pieces.ts',
    line,
    original,
    replacement,
    reason,
  })),
  {
    file: 'base/order-in-steps.ts',
    line: 'if (pace.after(1)) yield',
    original: '1',
    replacement: '(1 + 1)',
    reason: 'only how long work is divided',
  },
  {
    file: 'base/in-slices.ts',
    line: 'let spentMs = 0',
    original: '0',
    replacement: '(0 + 1)',
    reason: 'only the first turn of a worker: all others set it',
  },
  {
    file: 'base/in-slices.ts',
    line: 'let isLongTurn = false',
    original: 'false',
    replacement: 'true',
    reason: 'only the first turn of a worker: all others change it',
  },
]
