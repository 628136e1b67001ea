import type { Accepted } from './accepted.ts'

/** Mutants of one file with one reason. */
interface Group {
  readonly file: string
  readonly reason: string
  readonly mutants: readonly (readonly [line: string, original: string, replacement: string])[]
}

/** Initial values of members that are set before they are read, by file. */
const SET_BEFORE_READ: Readonly<Record<string, readonly string[]>> = {
  'net/http/response-limit.ts': ['#sentBefore = 0'],
  'net/http1/body-reader.ts': ['#framed = false'],
  'net/http1/body-writer.ts': ['framed = false', '#left = 0'],
  'net/http1/client-connection.ts': ['#silent = true', '#running = false', '#keep = true'],
  'net/http1/client-exchange.ts': [
    '#forHead = false',
    '#idempotent = false',
    '#tunnel = false',
    '#released = false',
    '#replayed = false',
    '#interim = 0',
  ],
  'net/http1/field-lines.ts': ['count = 0', 'stop = 0', '#shift = 0'],
  'net/http1/framer.ts': ['#left = 0', '#digits = 0', '#overhead = 0', '#dropping = false'],
  'net/http/expectation.ts': ['#owed = false', '#passed = false'],
  'net/http1/server-connection.ts': [
    '#running = false',
    '#forHead = false',
    '#responded = false',
    '#answered = false',
    '#closeAfter = false',
    '#discarded = 0',
    '#sendsEvents = false',
    '#unsentBytes = 0',
    '#sentBytes = 0',
  ],
}

function changeOf(original: string): Pick<Accepted, 'original' | 'replacement'> {
  const replacement = original === '0' ? '(0 + 1)' : String(original === 'false')
  return { original, replacement }
}

const GROUPS: readonly Group[] = [
  {
    file: 'net/http/authority-form.ts',
    reason: 'only speed: the host is read again',
    mutants: [
      ['if (authority !== lastAuthority) {', 'authority !== lastAuthority', 'true'],
      ['lastAuthority = authority', 'lastAuthority = authority', ';'],
    ],
  },
  {
    file: 'net/http/head-outcome.ts',
    reason: 'the same program: no other outcome has this number either',
    mutants: [['export const METHOD_NOT_IMPLEMENTED = -8', '8', '(8 + 1)']],
  },
  {
    file: 'net/http/head.ts',
    reason: 'only speed: the same text is put together from its parts',
    mutants: [
      [
        "if (tail === '' && startLine === '' && this.droppedCount === 0 && skip < 0) return this.text",
        "tail === '' && startLine === '' && this.droppedCount === 0 && skip < 0",
        'false',
      ],
      [
        "if (tail === '' && startLine === '' && this.droppedCount === 0 && skip < 0) return this.text",
        "''",
        "'mutated'",
      ],
      [
        'if (this.droppedCount === 0 && skip < 0) return text.slice(from, end)',
        'this.droppedCount === 0 && skip < 0',
        'false',
      ],
    ],
  },
  {
    file: 'net/http/name-table.ts',
    reason: 'only memory: one more length, of which there are no names',
    mutants: [
      ['const longest = Math.max(0, ...names.map(({ length }) => length))', '0', '(0 + 1)'],
      [
        'this.#byLength = Array.from({ length: longest + 1 }, (_, length) => names.filter((name) => name.length === length))',
        '1',
        '(1 + 1)',
      ],
    ],
  },
  {
    file: 'net/http/read-method.ts',
    reason: 'only speed: the text is cut out each time',
    mutants: [
      [
        'for (const method of METHODS[end] ?? []) if (text.startsWith(method)) return method',
        'text.startsWith(method)',
        'false',
      ],
    ],
  },
  {
    file: 'net/http/head.ts',
    reason: 'only speed: there is no value at -1',
    mutants: [['return added < 0 ? undefined : this.#values[added]', 'added < 0', 'false']],
  },
  {
    file: 'net/http/head.ts',
    reason: 'only memory: a value behind the last one is not read',
    mutants: [
      ["this.#values[this.#added] = ''", "this.#values[this.#added] = ''", ';'],
      ["this.#values[this.#added] = ''", "''", "'mutated'"],
      ["while (this.#added > 0) this.#values[--this.#added] = ''", "''", "'mutated'"],
    ],
  },
  {
    file: 'net/http/head.ts',
    reason: 'only speed for a request, whose line is then written again',
    mutants: [
      [
        "if (this.startLineKept) return this.#write('', 0, kind, length, connectionLines)",
        'this.startLineKept',
        'false',
      ],
    ],
  },
  {
    file: 'net/http/head.ts',
    reason: 'only speed and memory: tables that grow earlier, later or by more',
    mutants: [
      ['if (count <= this.dropped.length) return', '<=', '<'],
      ['if (count <= this.dropped.length) return', 'count <= this.dropped.length', 'false'],
      ['if (count <= this.dropped.length) return', 'return', ';'],
      ['const capacity = Math.max(count, 2 * this.dropped.length, FIRST_FIELDS)', '2', '(2 + 1)'],
      ['const memory = new ArrayBuffer(17 * capacity)', '17', '(17 + 1)'],
      ['const FIRST_FIELDS = 8', '8', '(8 + 1)'],
    ],
  },
  {
    file: 'net/http/head.ts',
    reason: 'only speed: what is behind the last field is copied, too, and not read',
    mutants: [
      ['for (let i = 0; i < 4 * other.received; i++) this.offsets[i] = other.offsets[i]!', '<', '<='],
      ['for (let i = 0; i < 4 * other.received; i++) this.offsets[i] = other.offsets[i]!', '4', '(4 + 1)'],
      ['for (let i = 0; i < other.received; i++) this.dropped[i] = other.dropped[i]!', '<', '<='],
    ],
  },
  {
    file: 'net/http/head.ts',
    reason: 'the same program: callers look at the sign alone',
    mutants: [
      ['return -1', '1', '(1 + 1)'],
      ['const announced = kind === LENGTH || kind === NONE ? length : -1', '1', '(1 + 1)'],
      ['const skip = keepsLength ? -1 : this.lengthField', '1', '(1 + 1)'],
    ],
  },
  {
    file: 'net/http/head.ts',
    reason: 'only speed: the field is found by its name',
    mutants: [
      [
        "return this.keepsReceivedHost ? this.#value(this.hostField) : (this.get('host') ?? '')",
        'this.keepsReceivedHost',
        'false',
      ],
    ],
  },
  {
    file: 'net/http/path-form.ts',
    reason: 'only speed: a path without a run of slashes is searched for one by an expression',
    mutants: [
      ["return decoded.includes('//') ? decoded.replace(/\\/{2,}/g, '/') : decoded", "decoded.includes('//')", 'true'],
      ["return decoded.includes('//') ? decoded.replace(/\\/{2,}/g, '/') : decoded", "'//'", "''"],
    ],
  },
  {
    file: 'net/http/path-form.ts',
    reason: 'only speed: endOfPrefix finds the same end',
    mutants: [
      [
        'const end = normal.startsWith(prefix) ? prefix.length : endOfPrefix(normal, prefix)',
        'normal.startsWith(prefix)',
        'false',
      ],
    ],
  },
  {
    file: 'net/http/path-form.ts',
    reason: 'only memory: no escape has more than two digits',
    mutants: [['return Array.from({ length: 256 }, (_, code) => {', '256', '(256 + 1)']],
  },
  {
    file: 'net/http/request-rules.ts',
    reason: 'the same answer: neither text is a type that is looked for',
    mutants: [["return GRPC.test(request.joined('content-type') ?? '')", "''", "'mutated'"]],
  },
  {
    file: 'net/http1/client-exchange.ts',
    reason: 'only memory: the limit of the request before has been stopped, and is replaced by another one',
    mutants: [['this.#limit ??= this.#newLimit()', '??=', '=']],
  },
  {
    file: 'net/http1/server-connection.ts',
    reason: 'the same program: each request sets it before it is read',
    mutants: [['#endsWithClient = false', 'false', 'true']],
  },
  {
    file: 'net/http1/body-writer.ts',
    reason: 'only speed: bytes that are not kept are written as text, too',
    mutants: [
      ['if (this.#keeps(end - start)) this.#writeText(latin1(buffer, start, end))', 'this.#keeps(end - start)', 'true'],
    ],
  },
  {
    file: 'net/http1/client-connection.ts',
    reason: 'only speed: nothing is read, or what is read is copied first',
    mutants: [
      ['if (this.#held.length > 0) this.#run(this.#held.bytes, 0, this.#held.length)', 'this.#held.length > 0', 'true'],
      ['if (this.#held.length > 0) this.#run(this.#held.bytes, 0, this.#held.length)', '>', '>='],
      ['if (this.#held.length === 0) return this.#run(buffer, start, end)', 'this.#held.length === 0', 'false'],
    ],
  },
  {
    file: 'net/http1/client-connection.ts',
    reason: 'only speed: a turn of the loop that reads nothing',
    mutants: [['while (at < end && this.#exchange !== null) {', '<', '<=']],
  },
  {
    file: 'net/http1/client-connection.ts',
    reason: 'only speed: the connection is paused before the next bytes, and resumed for the receiver of the body',
    mutants: [
      ['else if (start < end) this.#transport.pause()', 'start < end', 'true'],
      ['else if (start < end) this.#transport.pause()', '<', '<='],
    ],
  },
  {
    file: 'net/http1/client-connection.ts',
    reason: 'the same program: the connection is closed then, and the index is not used',
    mutants: [
      ['return end', 'end', 'undefined'],
      ['if (this.#exchange !== exchange) return end', 'end', 'undefined'],
    ],
  },
  {
    file: 'net/http1/client-connection.ts',
    reason: 'the same program: a head has more than one byte, so its end is neither 0 nor 1',
    mutants: [
      ['if (after < 0) {', '<', '<='],
      ['if (after < 0) {', '0', '(0 + 1)'],
    ],
  },
  {
    file: 'net/http1/client-connection.ts',
    reason: 'never used: no transport gives bytes inside of a call',
    mutants: [['if (!this.#running) this.#run(this.#held.bytes, 0, this.#held.length)', '!this.#running', 'true']],
  },
  {
    file: 'net/http1/client-exchange.ts',
    reason: 'never used: a body that ends with its connection has no length',
    mutants: [["this.request.start(transport, '', BODY_CLOSE, -1)", '1', '(1 + 1)']],
  },
  {
    file: 'net/http1/client-exchange.ts',
    reason: 'the same program: no other phase has this number either',
    mutants: [['const OVER = 2', '2', '(2 + 1)']],
  },
  {
    file: 'net/http1/client-pool.ts',
    reason: 'only memory: the exchanges that are kept for later requests',
    mutants: [
      ['const MAX_SPARE = 1024', '1024', '(1024 + 1)'],
      ['if (this.#spare.length < MAX_SPARE) this.#spare.push(exchange)', 'this.#spare.length < MAX_SPARE', 'true'],
      ['if (this.#spare.length < MAX_SPARE) this.#spare.push(exchange)', '<', '<='],
    ],
  },
  {
    file: 'net/http1/client-pool.ts',
    reason: 'the same program: the hints of servers are whole seconds',
    mutants: [['if (closing || ms <= 0 || !connection.usable) return connection.destroy()', '0', '(0 + 1)']],
  },
  {
    file: 'net/http1/client-pool.ts',
    reason:
      'only memory: a timer of a closed connection does nothing, and a dial that was cancelled is not cancelled again',
    mutants: [
      [
        'if (connection.timer !== undefined) this.#pool.settings.wheel.remove(connection.timer)',
        'this.#pool.settings.wheel.remove(connection.timer)',
        ';',
      ],
      ['this.#dials.delete(connection)', 'this.#dials.delete(connection)', ';'],
    ],
  },
  {
    file: 'net/http1/field-lines.ts',
    reason: 'only speed: how much is searched at once',
    mutants: [
      ['const MOST = READ_BASE / (4 * PER_LINE) - 1', '4', '(4 + 1)'],
      ['const MOST = READ_BASE / (4 * PER_LINE) - 1', '1', '(1 + 1)'],
      ['const WINDOW = 2048', '2048', '(2048 + 1)'],
      ['for (let window = WINDOW; ; window *= 4) {', '4', '(4 + 1)'],
      ['if (lines.count > 0) {', 'lines.count > 0', 'false'],
      ['if (lines.count > 0) {', '0', '(0 + 1)'],
      ['return', 'return', ';'],
      ['if (bytes === readBuffer) lines.search(at, end, READ_BASE)', 'bytes === readBuffer', 'false'],
    ],
  },
  {
    file: 'net/http1/finish-head.ts',
    reason: 'only speed: without nominated fields nothing is dropped',
    mutants: [
      ['if (nominated.size > 0) {', 'nominated.size > 0', 'true'],
      ['if (nominated.size > 0) {', '>', '>='],
    ],
  },
  {
    file: 'net/http1/finish-head.ts',
    reason: 'only speed: no field with a name that is compared is left',
    mutants: [['if (head.dropped[at] === 0) continue', 'head.dropped[at] === 0', 'false']],
  },
  {
    file: 'net/http1/finish-head.ts',
    reason: 'only speed: nothing is left to finish in such a head',
    mutants: [
      ['if (!head.unfinished) return 0', '!head.unfinished', 'false'],
      ['return head.unfinished ? finishConnection(head, false) : 0', 'head.unfinished', 'true'],
    ],
  },
  {
    file: 'net/http1/finish-head.ts',
    reason: 'the same head: the flag after the last field is never read, and the next head resets it',
    mutants: [['for (let at = 0; at < head.received; at++) {', '<', '<=']],
  },
  {
    file: 'net/http1/framer.ts',
    reason: 'the same program: the index is not used when the framing is invalid',
    mutants: [['if (!this.#step(buffer[i]!)) return i', 'i', 'undefined']],
  },
  {
    file: 'net/http1/framer.ts',
    reason: 'the same program: only the sign counts',
    mutants: [
      ['return lower >= 97 && lower <= 102 ? lower - 87 : -1', '1', '(1 + 1)'],
      ['let passedTo = this.#dropping ? start : -1', '1', '(1 + 1)'],
    ],
  },
  {
    file: 'net/http1/framer.ts',
    reason: 'the same program: no other state has this number',
    mutants: [['const EXTENSION_VALUE = 16', '16', '(16 + 1)']],
  },
  {
    file: 'net/http1/parse-head-text.ts',
    reason: 'the same program: a line has more than one byte, so its end is neither 0 nor 1',
    mutants: [
      ['if (after < 0) return after', '<', '<='],
      ['if (after < 0) return after', '0', '(0 + 1)'],
    ],
  },
  {
    file: 'net/http1/parse-head.ts',
    reason: 'only speed: a status line at the end of the received bytes is parsed again with the following bytes',
    mutants: [['if (i + 2 > end) return i === end || bytes[i] === CR ? INCOMPLETE : MALFORMED', '>', '>=']],
  },
  {
    file: 'net/http1/parse-head.ts',
    reason: 'only speed: noteField then compares the names itself',
    mutants: [
      [
        'if (length > LONGEST_NOTED || NOTED[32 * length + (bytes[name]! & 31)] !== 1) continue',
        'length > LONGEST_NOTED || NOTED[32 * length + (bytes[name]! & 31)] !== 1',
        'false',
      ],
      [
        'if (length > LONGEST_NOTED || NOTED[32 * length + (bytes[name]! & 31)] !== 1) continue',
        'length > LONGEST_NOTED || NOTED[32 * length + (bytes[name]! & 31)] !== 1',
        '((length > LONGEST_NOTED) && (NOTED[32 * length + (bytes[name]! & 31)] !== 1))',
      ],
    ],
  },
  {
    file: 'net/http1/parse-head.ts',
    reason: 'only memory: a larger table',
    mutants: [
      ['const NOTED = new Uint8Array(32 * (LONGEST_NOTED + 1))', '32', '(32 + 1)'],
      ['const NOTED = new Uint8Array(32 * (LONGEST_NOTED + 1))', '1', '(1 + 1)'],
    ],
  },
  {
    file: 'net/http1/parse-head.ts',
    reason: 'only speed: origin form is then finished from the text, too',
    mutants: [
      [
        'return length === CONNECT.length && equals(bytes, start, CONNECT)',
        'length === CONNECT.length && equals(bytes, start, CONNECT)',
        '((length === CONNECT.length) || (equals(bytes, start, CONNECT)))',
      ],
    ],
  },
  {
    file: 'net/http1/parse-head.ts',
    reason: 'only speed: the option is then read from the text',
    mutants: [
      [
        'if (end - start === CLOSE.length && equals(bytes, start, CLOSE)) head.saysClose = true',
        'end - start === CLOSE.length && equals(bytes, start, CLOSE)',
        'false',
      ],
      ['if (end - start === CLOSE.length && equals(bytes, start, CLOSE)) head.saysClose = true', '-', '+'],
      [
        'else if (end - start === KEEP_ALIVE.length && equals(bytes, start, KEEP_ALIVE)) head.saysKeepAlive = true',
        'end - start === KEEP_ALIVE.length && equals(bytes, start, KEEP_ALIVE)',
        'false',
      ],
      [
        'else if (end - start === KEEP_ALIVE.length && equals(bytes, start, KEEP_ALIVE)) head.saysKeepAlive = true',
        '-',
        '+',
      ],
    ],
  },
  {
    file: 'net/http1/parse-head.ts',
    reason: 'the same program: a line has more than one byte, so its end is neither 0 nor 1',
    mutants: [
      ['if (after < 0) return after', '<', '<='],
      ['if (after < 0) return after', '0', '(0 + 1)'],
    ],
  },
  {
    file: 'net/http1/parse-head.ts',
    reason: 'only speed: origin form is then finished from the text, too; nothing else begins with a 0',
    mutants: [['head.unfinished = first !== 47 || isConnect(bytes, start, head.methodEnd)', '47', '(47 + 1)']],
  },
  {
    file: 'net/http1/parse-head.ts',
    reason: 'the same outcome: no head ends with its first line',
    mutants: [
      ['if (after + 2 > end) return after === end || bytes[after] === CR ? INCOMPLETE : MALFORMED', '2', '(2 + 1)'],
    ],
  },
  {
    file: 'net/http1/read-head.ts',
    reason: 'the same program: a line has more than one byte, so its end is neither 0 nor 1',
    mutants: [
      ['if (after < 0) return after', '<', '<='],
      ['if (after < 0) return after', '0', '(0 + 1)'],
    ],
  },
  {
    file: 'net/http1/server-connection.ts',
    reason: 'the same program: of a length that is not known the sign alone counts',
    mutants: [
      ["this.#transport.writeText(head.writeResponse(BODY_NONE, -1, ''))", '1', '(1 + 1)'],
      [
        'this.response.start(this.#transport, head.writeResponse(BODY_NONE, -1, lines), BODY_CLOSE, -1)',
        '1',
        '(1 + 1)',
      ],
      ['this.body.start(BODY_CLOSE, -1)', '1', '(1 + 1)'],
    ],
  },
  {
    file: 'net/http1/server-connection.ts',
    reason: 'only speed: nothing is read, or what is read is copied first',
    mutants: [
      ['if (this.#held.length > 0) this.#run(this.#held.bytes, 0, this.#held.length)', 'this.#held.length > 0', 'true'],
      ['if (this.#held.length > 0) this.#run(this.#held.bytes, 0, this.#held.length)', '>', '>='],
      ['if (this.#held.length === 0) return this.#run(buffer, start, end)', 'this.#held.length === 0', 'false'],
    ],
  },
  {
    file: 'net/http1/server-connection.ts',
    reason: 'never used: no transport gives bytes inside of a call',
    mutants: [['if (!this.#running) this.#run(this.#held.bytes, 0, this.#held.length)', '!this.#running', 'true']],
  },
  {
    file: 'net/http1/server-connection.ts',
    reason: 'only memory: a connection that ends keeps what it did not read, until it is forgotten',
    mutants: [
      ['if (this.#phase === CLOSED) return this.#held.clear()', 'this.#held.clear()', 'undefined'],
      ['this.#held.clear()', 'this.#held.clear()', ';'],
    ],
  },
  {
    file: 'net/http1/server-connection.ts',
    reason: 'the same program: a head has more than one byte, so its end is neither 0 nor 1',
    mutants: [
      ['if (after < 0) {', '<', '<='],
      ['if (after < 0) {', '0', '(0 + 1)'],
    ],
  },
  {
    file: 'net/http1/server-connection.ts',
    reason: 'the same program: no more requests are read then, and the index is not used',
    mutants: [
      ['return end', 'end', 'undefined'],
      ['if (this.#phase !== SERVING) return end', 'end', 'undefined'],
    ],
  },
  {
    file: 'net/http1/server-connection.ts',
    reason: 'only memory: the timers of a closed connection do nothing',
    mutants: [
      ['this.#forget()', 'this.#forget()', ';'],
      ['this.#settings.wheel.remove(this.#timer)', 'this.#settings.wheel.remove(this.#timer)', ';'],
      [
        'if (this.#age !== undefined) this.#settings.wheel.remove(this.#age)',
        'this.#settings.wheel.remove(this.#age)',
        ';',
      ],
    ],
  },
  {
    file: 'net/http1/server-connection.ts',
    reason: 'never used: no request is aborted then',
    mutants: [
      ["else this.#fail('timeout')", "'timeout'", "''"],
      ["if (unsentBytes === 0 || unsentBytes === this.#unsentBytes) this.#fail('timeout')", "'timeout'", "''"],
    ],
  },
  {
    file: 'net/http1/server-connection.ts',
    reason: 'the same program: no other phase has this number either',
    mutants: [['const CLOSED = 3', '3', '(3 + 1)']],
  },
  {
    file: 'net/http1/server-connection.ts',
    reason: 'only speed: responses are kept, and nobody reads them again',
    mutants: [['readonly response: BodyWriter = new BodyWriter(this, { keepsWhole: false })', 'false', 'true']],
  },
]

/** Mutants of the framing of HTTP/1 that no test needs to notice. */
export const ACCEPTED_FRAMING: readonly Accepted[] = [
  ...Object.entries(SET_BEFORE_READ).flatMap(([file, lines]) =>
    lines.map((line) => ({
      file,
      line,
      ...changeOf(line.slice(line.lastIndexOf(' ') + 1)),
      reason: 'the same program: where a message, body or limit begins, it is set',
    })),
  ),
  ...GROUPS.flatMap(({ file, reason, mutants }) =>
    mutants.map(([line, original, replacement]) => ({ file, line, original, replacement, reason })),
  ),
]
