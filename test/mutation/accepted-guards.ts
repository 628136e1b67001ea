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
const YIELD = 'if (pace.after(WORK_PER_CHECK)) yield'
const YIELD_TEXT = 'if (pace.after(WORK_PER_TEXT)) yield'
const NO_TEXT = "if (before === '' || text === '') return undefined"
const REALTIME: readonly Accepted[] = [
  ...(
    [
      ['conversation', 'const WORK_PER_CHECK = 1024', '1024', '(1024 + 1)', 'only how long work is divided'],
      ['conversation', YIELD, 'pace.after(WORK_PER_CHECK)', 'true', 'only how long work is divided'],
      ['conversation', YIELD, 'pace.after(WORK_PER_CHECK)', 'false', 'only how long work is divided'],
      ['conversation', YIELD, 'yield', ';', 'only how long work is divided'],
      ['conversation', 'const MAX_BYTES = 1_048_576', '1_048_576', '(1_048_576 + 1)', 'only memory: one byte'],
      ['conversation', 'while (this.#bytes > MAX_BYTES) this.#removeAt(0)', '>', '>=', 'only memory: one byte'],
      [
        'conversation',
        'this.#instructions.length = 0',
        '0',
        '(0 + 1)',
        'never used: the memory for the first ones is given back with all other',
      ],
      [
        'conversation',
        'return only === undefined || another !== undefined ? -1 : this.#items.indexOf(only)',
        '1',
        '(1 + 1)',
        'the same program: each negative number is no position',
      ],
      [
        'conversation',
        'return id === undefined ? undefined : this.#items[this.#indexOf(id)]',
        'id === undefined',
        'false',
        'the same program: an item without id is not there yet',
      ],
      [
        'conversation',
        'const isWhole = text.length <= EDGE_LENGTH',
        '<=',
        '<',
        'only memory: both ends of such a text are all of it',
      ],
      ['join-check', NO_TEXT, "before === '' || text === ''", 'false', 'only speed: nothing matches across'],
      [
        'join-check',
        NO_TEXT,
        "before === '' || text === ''",
        "((before === '') && (text === ''))",
        'only speed: nothing matches across',
      ],
      ['join-check', NO_TEXT, "''", "'mutated'", 'only speed: nothing matches across'],
      ['read-change', 'const WORK_PER_TEXT = 128', '128', '(128 + 1)', 'only how long work is divided'],
      ['read-change', YIELD_TEXT, 'pace.after(WORK_PER_TEXT)', 'true', 'only how long work is divided'],
      ['read-change', YIELD_TEXT, 'pace.after(WORK_PER_TEXT)', 'false', 'only how long work is divided'],
      ['read-change', YIELD_TEXT, 'yield', ';', 'only how long work is divided'],
      [
        'read-change',
        "if (holder !== undefined) speakers.set(holder, () => ({ role, text: texts.map(({ text }) => text).join('') }))",
        'holder !== undefined',
        'true',
        'never used: it has no name',
      ],
      ...(['delete', 'truncate'] as const).map(
        (kind) =>
          [
            'read-change',
            `return { kind: '${kind}', id: event.get('item_id')?.text ?? '' }`,
            "''",
            "'mutated'",
            'the same program: no item has this id',
          ] as const,
      ),
      [
        'read-change',
        "if (item.get('type')?.text === 'item_reference') elements.push({ id: item.get('id')?.text ?? '' })",
        "''",
        "'mutated'",
        'the same program: no item has this id',
      ],
    ] as const
  ).map(([file, line, original, replacement, reason]) => ({
    file: `protocols/llm/realtime/${file}.ts`,
    line,
    original,
    replacement,
    reason,
  })),
]

const REJECTS_BROKEN =
  "if (rules !== undefined) return { kind: 'reject', rules, detail: 'the match is in arguments that are no JSON' }"

const DIVIDING: readonly Accepted[] = [
  {
    file: 'protocols/llm/providers/edit-messages-body.ts',
    line: 'if (pace.after(WORK_PER_VALUE)) yield',
    original: 'yield',
    replacement: ';',
    reason: 'only how long work is divided',
  },
  ...entriesOf('stages/json-string-splitter', 'only speed: the same text', [
    ["if (!written.includes('\\\\')) return written", "!written.includes('\\\\')", 'false'],
    ["if (!written.includes('\\\\')) return written", "'\\\\'", "''"],
  ]),
  ...entriesOf('stages/arguments-stage', 'only speed: there is nothing to take, or to change', [
    ['if (unsettled.length === 0) return NONE', 'unsettled.length === 0', 'false'],
    ['if (edits.length === 0) return text', 'edits.length === 0', 'false'],
  ]),
  ...entriesOf('texts/broken-arguments', 'a matter of degree', [
    ['const HELD_BYTES = 16_384', '16_384', '(16_384 + 1)'],
  ]),
  ...entriesOf('texts/mask-broken', 'only how long work is divided', [
    ['if (pace.after(1)) yield', 'pace.after(1)', 'true'],
    ['if (pace.after(1)) yield', 'pace.after(1)', 'false'],
    ['if (pace.after(1)) yield', '1', '(1 + 1)'],
    ['if (pace.after(1)) yield', 'yield', ';'],
  ]),
  ...entriesOf('texts/mask-broken', 'the same program: there are no rules, and what neither passes nor masks rejects', [
    ["const masked = new Set(verdict.kind === 'pass' ? [] : verdict.rules)", "verdict.kind === 'pass'", 'false'],
    ["const masked = new Set(verdict.kind === 'pass' ? [] : verdict.rules)", "'pass'", "''"],
    [REJECTS_BROKEN, "'reject'", "''"],
  ]),
  ...entriesOf('stages/arguments-stage', 'the same program: nothing of the delta waits, or no mask begins there', [
    ['while (end < 0 && at > 0) end += begun[--at]!.text.length', '<', '<='],
    ['while (end < 0 && at > 0) end += begun[--at]!.text.length', '0', '(0 + 1)'],
    ['this.#settleCut(Math.min(0, end))', '0', '(0 + 1)'],
    ['this.#settleCut(0)', '0', '(0 + 1)'],
    ['end = Math.max(0, end)', 'end = Math.max(0, end)', ';'],
  ]),
  ...entriesOf('stages/service-checks', 'the same program: an empty text changes nothing', [
    ["if (cut !== '') this.#show(undefined, cut, false)", "cut !== ''", 'true'],
    ["if (cut !== '') this.#show(undefined, cut, false)", "''", "'mutated'"],
  ]),
  ...entriesOf('rules/pattern-rule', 'the same program: each limit is more', [
    ['scan(heldBytes = 0): TextScanner {', '0', '(0 + 1)'],
  ]),
  ...entriesOf('stages/regex-checks', 'the same program: an empty text changes nothing', [
    ["if (cut !== '') plain.beginWith(cut)", "cut !== ''", 'true'],
    ["if (cut !== '') plain.beginWith(cut)", "''", "'mutated'"],
  ]),
  ...entriesOf('stages/regex-checks', 'only memory, and how much is searched at a time', [
    ['if (this.#unsearched.length >= PART_LENGTH) this.#search()', 'this.#unsearched.length >= PART_LENGTH', 'true'],
    ['if (this.#unsearched.length >= PART_LENGTH) this.#search()', 'this.#unsearched.length >= PART_LENGTH', 'false'],
    ['if (this.#unsearched.length >= PART_LENGTH) this.#search()', '>=', '>'],
    ['if (this.#unsearched.length >= PART_LENGTH) this.#search()', '>=', '<'],
    ['if (this.#unsearched.length >= PART_LENGTH) this.#search()', 'this.#search()', ';'],
  ]),
  ...entriesOf('service-contents', 'only memory: the same texts in another list', [
    [
      'if (!texts.some((text) => text instanceof BrokenArguments)) return { texts, broken: [] }',
      '!texts.some((text) => text instanceof BrokenArguments)',
      'false',
    ],
  ]),
  ...entriesOf('texts/broken-arguments', 'the same program: an empty text changes nothing', [
    ['for (let at = 0; at < text.length && !isOver(); at += PART_LENGTH) {', '<', '<='],
  ]),
  ...entriesOf('texts/broken-arguments', 'only how long work is divided', [
    ['const WORK_PER_TEXT = 32', '32', '(32 + 1)'],
  ]),
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
    'texts/mask-texts',
    ['text.text.length', '1', 'WORK_PER_TEXT', 'whole.text.length', 'WORK_PER_SHARE'],
    [
      ['const WORK_PER_TEXT = 32', '32', '(32 + 1)'],
      ['const WORK_PER_SHARE = 8', '8', '(8 + 1)'],
      ['if (!pace.after(text.length)) continue', '!pace.after(text.length)', 'true'],
      ['if (!pace.after(text.length)) continue', '!pace.after(text.length)', 'false'],
      ['if (!pace.after(text.length)) continue', '!pace.after(text.length)', 'pace.after(text.length)'],
      ['yield', 'yield', ';'],
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
  ...dividing('stream/guarded-blocks', ['WORK_PER_END'], [['export const WORK_PER_END = 512', '512', '(512 + 1)']]),
  ...dividing('stream/guarding-stream-sink', ['WORK_PER_END'], [['yield', 'yield', ';']]),
  ...dividing(
    'stream/event-outbox',
    ['WORK_PER_PIECE', 'piece.original.length'],
    [
      ['const WORK_PER_PIECE = 32', '32', '(32 + 1)'],
      ['export const LONG_EVENT_BYTES = 4096', '4096', '(4096 + 1)'],
      ['const FEW_PIECES = 16', '16', '(16 + 1)'],
    ],
  ),
  ...dividing(
    'texts/text-groups',
    ['WORK_PER_PATH', 'WORK_PER_TEXT', 'WORK_PER_TEXT + text.length'],
    [
      ['const WORK_PER_TEXT = 4', '4', '(4 + 1)'],
      ['const WORK_PER_PATH = 64', '64', '(64 + 1)'],
      ['pace.after(WORK_PER_PATH)', 'pace.after(WORK_PER_PATH)', ';'],
      ['if (pace.after(WORK_PER_TEXT + text.length)) yield', '+', '-'],
    ],
  ),
]

const NEEDLESS_LINE = 'return joined.every(({ scanner, length }) => scanner.agreesWith(alone, length))'
const ALONE_LINE = 'return this.overran || this.isJoined ? undefined : this.#sources[0]!.scanner'

const STARTS_LINE =
  'while (length + PART <= most && one.slice(length, length + PART) === other.slice(length, length + PART))'
const ENDS_LINE = 'while (length + PART <= most && part(one) === part(other)) length += PART'

const SYSTEM_LINE = "const group: Group = { role: 'system', texts: [], count: 0, isShorter: false }"
const CHANGING_LINE =
  'const changing = at === undefined ? -1 : this.#endedPipeline().chains(at).findIndex(changesAtEnd)'
const LEAVE_LINE = 'if (this.#joined !== undefined && !isFinished) this.#leaveJoined()'
const ALONE_CHAINS_LINE = 'const alone = behind < 0 ? undefined : this.chains(-1)'
const SAME_CHAINS_LINE = 'const chains = alone?.every((chain, at) => chain === made[at]) ? alone : made'
const BEHIND_LINE =
  'return pipeline.chains(-1).map((chain) => ({ ...chain, left: [{ start: 0, end: chain.length, masked: [] }] }))'
const CHAINS_LINE = 'this.#chains ??= (this.#makeChains ?? this.#chainsBehind(this.#length))(this.#masked)'
const LEFT_LINE = 'if (this.#left.length < this.#head.length) this.#left.push(text)'
const ENDED_LINE = 'this.#ended = hasNeighbours || mayGoOn ? this.#pipeline.fork() : this.#pipeline'
const JOINED_LINE = 'if (joined.length > 0) this.#pipeline = this.#pipelineBehind(joined)'
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
  ...entriesOf('ask-together', 'only speed: one question has no other that could end it', [
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
  ...entriesOf('texts/mask-texts', 'only speed: texts are joined again, although no mask has changed them', [
    [
      'if (this.#whole !== undefined && this.#masks === masks) return this.#whole',
      'this.#whole !== undefined && this.#masks === masks',
      'false',
    ],
    ['this.#masks = masks', 'this.#masks = masks', ';'],
    ['#masks = 0', '0', '(0 + 1)'],
  ]),
  ...entriesOf('texts/mask-texts', 'the same program: only whether the number of masks is another one counts', [
    ['for (const group of texts.groups) wholes.push(yield* new TextGroup(group).whole(0, pace))', '0', '(0 + 1)'],
  ]),
  ...entriesOf('stages/regex-stage', 'never used: the stage keeps the tags itself', [
    ['this.#pipeline.push(0, text)', '0', '(0 + 1)'],
    ['for (const text of this.#head) pipeline.push(0, text)', '0', '(0 + 1)'],
    ['alone.push(0, text)', '0', '(0 + 1)'],
  ]),
  ...entriesOf('stages/regex-stage', 'the same program: each negative number is that of no text before', [
    ['return this.#endedPipeline().chains(this.#behind.get(sequence) ?? -1)', '1', '(1 + 1)'],
    [CHANGING_LINE, '1', '(1 + 1)'],
  ]),
  ...entriesOf('stages/regex-stage', 'the same program: the end of a text that is read alone has masked it', [
    [CHANGING_LINE, 'at === undefined', 'false'],
  ]),
  ...entriesOf('stages/regex-stage', 'only speed: the texts behind one that is stale are stale', [
    ['if (this.#isStale) return', 'this.#isStale', 'false'],
    ['if (this.#isStale) return', 'return', ';'],
  ]),
  ...entriesOf('stages/service-stage', 'never used: it is set with the first text', [
    ['#lastMs = 0', '0', '(0 + 1)'],
    ['#openedMs = 0', '0', '(0 + 1)'],
  ]),
  ...entriesOf('stages/service-stage', 'never used: it is set before a window is judged', [
    ['#isDue = false', 'false', 'true'],
  ]),
  ...entriesOf('stages/regex-stage', 'only memory: the piece that makes the text long is kept', [
    ['if (!this.#isLong) this.#head.push(text)', '!this.#isLong', 'true'],
  ]),
  ...entriesOf('stages/regex-stage', 'only memory: what is kept of a text that is long or read alone is not read', [
    ['this.#isLong = options.neighbours === undefined', 'this.#isLong = options.neighbours === undefined', ';'],
    ['if (!this.#isLong) this.#keepHead(text)', '!this.#isLong', 'true'],
    [LEFT_LINE, 'this.#left.length < this.#head.length', 'true'],
    [LEFT_LINE, '<', '<='],
  ]),
  ...entriesOf('stages/regex-stage', 'only speed: a search is copied although its text does not go on', [
    ['#endedPipeline(mayGoOn = false): MaskPipeline {', 'false', 'true'],
    [ENDED_LINE, 'hasNeighbours || mayGoOn', 'true'],
  ]),
  ...entriesOf('texts/text-groups', 'only speed: groups that leave out nothing are made, and not used', [
    ['const lasting = runs.every(({ lasts }) => lasts)', 'runs.every(({ lasts }) => lasts)', 'false'],
    ['const lasting = runs.every(({ lasts }) => lasts)', 'lasts', 'undefined'],
  ]),
  ...entriesOf(
    'texts/text-groups',
    'never used: the first run begins a group, and the role of all of the system is not read',
    [
      ['let hasSkipped = false', 'false', 'true'],
      [SYSTEM_LINE, "'system'", "''"],
    ],
  ),
  ...entriesOf('rules/joined-scanner', 'never used: it is set with the first group', [
    ['#reported = 0', '0', '(0 + 1)'],
  ]),
  ...entriesOf('rules/joined-scanner', 'only speed: searches that find the same go on for longer', [
    ['this.#dropAgreeing()', 'this.#dropAgreeing()', ';'],
    [NEEDLESS_LINE, 'joined.every(({ scanner, length }) => scanner.agreesWith(alone, length))', 'undefined'],
    [NEEDLESS_LINE, 'scanner.agreesWith(alone, length)', 'undefined'],
    [ALONE_LINE, 'this.overran || this.isJoined', 'true'],
    [ALONE_LINE, 'this.overran || this.isJoined ? undefined : this.#sources[0]!.scanner', 'undefined'],
    [
      'const differing = others.filter(({ scanner, offset }) => !scanner.agreesWith(first.scanner, offset - first.offset))',
      '-',
      '+',
    ],
    ['if (chain.left.length === 0) return false', 'chain.left.length === 0', 'false'],
  ]),
  ...entriesOf('rules/joined-scanner', 'never used: a copy gets the sources and the part of its original', [
    [
      'const fork = new JoinedScanner({ alone: { scanner: sources[0]!.scanner, length: 0, left: [] }, joined: [] })',
      '0',
      '(0 + 1)',
    ],
  ]),
  ...entriesOf('rules/joined-scanner', 'never used: only its sources are compared with others', [
    ['return false', 'false', 'true'],
  ]),
  ...entriesOf('rules/joined-scanner', 'the same program: nothing leaves of a text of which nothing is settled', [
    ['if (settled < 0) return', '<', '<='],
    ['if (settled < 0) return', '0', '(0 + 1)'],
  ]),
  ...entriesOf('rules/joined-scanner', 'only speed: what is in a group changes it no more', [
    ['this.#pieces = this.#pieces.filter(isOpen)', 'this.#pieces = this.#pieces.filter(isOpen)', ';'],
  ]),
  ...entriesOf('rules/joined-scanner', 'the same program: a match that ends before the text changes no group', [
    ['if (end <= offset) return', 'end <= offset', 'false'],
    ['if (end <= offset) return', '<=', '<'],
    ['if (end <= offset) return', 'return', ';'],
  ]),
  ...entriesOf('rules/joined-scanner', 'the same program: each negative number is before all texts', [
    ['#groupStart = -1', '1', '(1 + 1)'],
  ]),
  ...entriesOf('rules/joined-scanner', 'only speed: no match is found in a text that is settled', [
    ['return { scanner, length: end, left: texts.filter((each) => each.end > scanner.settled) }', '>', '>='],
  ]),
  ...entriesOf('stages/regex-stage', 'only speed: a search that does not differ is made, or made again', [
    ['if (isChanged) for (const stage of this.#after) stage.catchUp()', 'isChanged', 'true'],
    ['if (this.#ended === undefined) {', 'this.#ended === undefined', 'true'],
    ['if (!found.includes(chains)) found.push(chains)', '!found.includes(chains)', 'true'],
    [JOINED_LINE, 'joined.length > 0', 'true'],
    [JOINED_LINE, '>', '>='],
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
  ...entriesOf('stream/text-sequences', 'a matter of degree', [['const MAX_SEQUENCES = 64', '64', '(64 + 1)']]),
  ...entriesOf('services/ask', 'the same program: the iterators of bodies have `return`', [
    ['await body[Symbol.asyncIterator]().return?.()', '?.', ''],
  ]),
  ...entriesOf('rules/candidate-rule', 'only how long work is divided', [['yield', 'yield', ';']]),
  ...entriesOf('rules/mask-pipeline', 'only speed: an empty list is replaced by another one', [
    ['if (done.length > 0) this.#done = []', 'done.length > 0', 'true'],
    ['if (done.length > 0) this.#done = []', '>', '>='],
  ]),
  ...entriesOf(
    'rules/mask-pipeline',
    'only speed: one rule alone could let quiet words pass, too; a table is made again',
    [
      ["if (count === 0 || text === '' || !isQuiet(text, units)) return 0", '0', '(0 + 1)'],
      ['if (known !== undefined) return known', 'known !== undefined', 'false'],
      ['quietBeginnings.set(rules, beginning)', 'quietBeginnings.set(rules, beginning)', ';'],
      ['const waiting = this.#ends.length > 0 || this.#at < this.#length', '>', '<='],
      ['const waiting = this.#ends.length > 0 || this.#at < this.#length', '0', '(0 + 1)'],
      ['const waiting = this.#ends.length > 0 || this.#at < this.#length', '<', '<='],
      [
        'if (!waiting && matches.length === 0 && scanner.settled === this.#length + added.length) {',
        '!waiting && matches.length === 0 && scanner.settled === this.#length + added.length',
        'false',
      ],
      ['if (!waiting && matches.length === 0 && scanner.settled === this.#length + added.length) {', '+', '-'],
    ],
  ),
  ...entriesOf('rules/mask-pipeline', 'the same program: each negative number is before all texts', [
    ['#leftEnd = -1', '1', '(1 + 1)'],
  ]),
  ...entriesOf('rules/mask-pipeline', 'only speed: the search of joined texts goes on for longer', [
    [LEAVE_LINE, 'this.#joined !== undefined && !isFinished', 'true'],
    [LEAVE_LINE, 'this.#joined !== undefined && !isFinished', 'false'],
    [LEAVE_LINE, 'this.#joined !== undefined && !isFinished', '((this.#joined !== undefined) || (!isFinished))'],
    [LEAVE_LINE, '!==', '==='],
    [LEAVE_LINE, '!isFinished', 'isFinished'],
    [LEAVE_LINE, 'this.#leaveJoined()', ';'],
    ['this.#scanner = this.#alone', 'this.#scanner = this.#alone', ';'],
    ['if (this.#scanner !== this.#joined) this.#joined = undefined', 'this.#scanner !== this.#joined', 'false'],
    ['if (this.#scanner !== this.#joined) this.#joined = undefined', 'this.#joined = undefined', ';'],
    [
      'if (JoinedScanner.isNeedless(alone, behind)) return undefined',
      'JoinedScanner.isNeedless(alone, behind)',
      'false',
    ],
  ]),
  ...entriesOf('rules/mask-pipeline', 'only speed: the same search behind two sequences is made twice', [
    [ALONE_CHAINS_LINE, 'behind < 0', 'true'],
    [ALONE_CHAINS_LINE, '<', '<='],
    [ALONE_CHAINS_LINE, '0', '(0 + 1)'],
    [ALONE_CHAINS_LINE, '1', '(1 + 1)'],
    [SAME_CHAINS_LINE, 'alone?.every((chain, at) => chain === made[at])', 'false'],
    [SAME_CHAINS_LINE, 'chain === made[at]', 'undefined'],
    ['this.#chains[behind + 1] = chains', 'this.#chains[behind + 1] = chains', ';'],
    [CHAINS_LINE, '??=', '='],
  ]),
  ...entriesOf('rules/mask-pipeline', 'only memory: matches before the last one are kept', [
    ['else if (isFinished) masked.push(match)', 'isFinished', 'true'],
  ]),
  ...entriesOf('rules/mask-pipeline', 'only speed: no match is found in a text that is settled', [
    ['const isSettled = fork.settled >= length', '>=', '>'],
    [
      'return [{ scanner: fork, length, left: isSettled ? [] : [{ start: 0, end: length, masked }] }]',
      'isSettled',
      'false',
    ],
  ]),
  ...entriesOf('rules/mask-pipeline', 'the same program: each negative number is that of no text before', [
    [BEHIND_LINE, '1', '(1 + 1)'],
  ]),
  ...entriesOf(
    'rules/mask-pipeline',
    'never used: only the end of a text needs it, and the tag of its piece is not read',
    [
      [
        '#process(parts: readonly Part[], isFinished: boolean, from: number, keepsChains = false): void {',
        'false',
        'true',
      ],
      ['pipeline.push(0, text)', '0', '(0 + 1)'],
    ],
  ),
  ...entriesOf('rules/mask-pipeline', 'the same program: an end that waits has text before it that waits', [
    ['if (this.#ends.length > 0 || this.#at < this.#length || !scanner.isIdle) return false', '0', '(0 + 1)'],
    ['while (ends.length > 0 && ends[0]! <= to) {', '>', '>='],
  ]),
  ...entriesOf('rules/mask-pipeline', 'the same program: an empty text changes nothing', [
    ["if (added !== '') scanner.push(added)", "added !== ''", 'true'],
    ["if (added !== '') scanner.push(added)", "''", "'mutated'"],
    ['if (from < to) this.#current.push(this.#text.slice(from, to))', 'from < to', 'true'],
    ['if (from < to) this.#current.push(this.#text.slice(from, to))', '<', '<='],
    ["const text = current.length === 1 ? current[0]! : current.join('')", 'current.length === 1', 'false'],
  ]),
  ...entriesOf('rules/mask-pipeline', 'only when the next rule sees a text: a piece leaves when all of it has passed', [
    ['if (this.#current.length > 0) this.#send(false, this.#at)', 'this.#current.length > 0', 'true'],
    ['if (this.#current.length > 0) this.#send(false, this.#at)', 'this.#current.length > 0', 'false'],
    ['if (this.#current.length > 0) this.#send(false, this.#at)', '>', '>='],
    ['if (this.#current.length > 0) this.#send(false, this.#at)', '>', '<='],
    ['if (this.#current.length > 0) this.#send(false, this.#at)', 'this.#send(false, this.#at)', ';'],
  ]),
  ...entriesOf('rules/merge-matches', 'only how long work is divided; matches that end together are the same', [
    ['if (pace.after(1)) yield', 'pace.after(1)', 'true'],
    ['if (pace.after(1)) yield', 'pace.after(1)', 'false'],
    ['if (pace.after(1)) yield', '1', '(1 + 1)'],
    ['if (pace.after(1)) yield', 'yield', ';'],
    ['else if (match.end > last.end) merged[merged.length - 1] = { start: last.start, end: match.end }', '>', '>='],
  ]),
  ...entriesOf('rules/mask-pipeline', 'only speed: stages without text pass nothing on', [
    ['if (parts.length === 0) {', 'parts.length === 0', 'false'],
    ['if (!isFinished) return', '!isFinished', 'false'],
    ['if (stages[at] === undefined) continue', 'stages[at] === undefined', 'false'],
    ['if (!isFinished) return', 'return', ';'],
    ['const waiting = this.#ends.length > 0 || this.#at < this.#length', '>', '>='],
  ]),
  ...entriesOf('rules/mask-pipeline', 'the same program: a scanner that is idle has settled all text', [
    [
      'if (this.#ends.length > 0 || this.#at < this.#length || !scanner.isIdle) return false',
      'this.#ends.length > 0 || this.#at < this.#length',
      '((this.#ends.length > 0) && (this.#at < this.#length))',
    ],
  ]),
  ...REALTIME,
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
  ...entriesOf('rules/pattern-rule', 'only speed: the search finds nothing, either', [
    [
      'if (!text.includes(near?.character ?? automaton.program.prefix)) return undefined',
      '!text.includes(near?.character ?? automaton.program.prefix)',
      'false',
    ],
  ]),
  ...entriesOf('rules/pattern-rule', 'only speed: words that no address begins with pass together', [
    ['return near === undefined ? automaton.quiet : undefined', 'near === undefined', 'true'],
  ]),
  ...entriesOf('rules/phone-numbers', 'only speed: there is nothing but digits and their signs in a candidate', [
    ['parsePhoneNumberFromString(number, { defaultCountry, extract: false })?.isValid() === true', 'false', 'true'],
  ]),
  ...entriesOf('rules/phone-plans', 'the same program: of all countries, one has groups, and both match or none', [
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
  {
    file: `${GUARDS}/texts/mask-texts.ts`,
    line: 'if (end > base && length > 0) shares.push({ start: Math.max(0, start - base), end: Math.min(length, end - base) })',
    original: '>',
    replacement: '>=',
    reason:
      'the same program: a match that ends where a text begins was finished with the text before it; a share of an empty text is empty',
  },
  {
    file: `${GUARDS}/texts/mask-texts.ts`,
    line: 'if (end > base + length) break',
    original: '>',
    replacement: '>=',
    reason: 'the same program: the next text has no share of a match that ends where it begins',
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
