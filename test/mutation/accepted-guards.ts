import type { Accepted } from './accepted.ts'

const GUARDS = 'protocols/llm/guards'

/** In the guards of prompts. */
export const ACCEPTED_GUARDS: readonly Accepted[] = [
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
    file: `${GUARDS}/mask-texts.ts`,
    line: 'if (end > base && length > 0) shares.push({ start: Math.max(0, start - base), end: Math.min(length, end - base) })',
    original: '>',
    replacement: '>=',
    reason:
      'the same program: a match that ends where a text begins was finished with the text before it; a share of an empty text is empty',
  },
  {
    file: `${GUARDS}/mask-texts.ts`,
    line: 'if (end > base + length) break',
    original: '>',
    replacement: '>=',
    reason: 'the same program: the next text has no share of a match that ends where it begins',
  },
  {
    file: `${GUARDS}/service-contents.ts`,
    line: 'if (before === after) return true',
    original: 'before === after',
    replacement: 'false',
    reason: 'only speed: equal texts are left as they are below, too',
  },
  {
    file: `${GUARDS}/service-contents.ts`,
    line: 'if (found < from) continue',
    original: '<',
    replacement: '<=',
    reason: 'the same texts: one that is masked to nothing becomes the placeholder, with its boundary or without',
  },
  ...[24, 12, 6, 3].map((length) => ({
    file: `${GUARDS}/service-contents.ts`,
    line: 'const CONTEXTS = [24, 12, 6, 3].flatMap((length) => [',
    original: String(length),
    replacement: `(${length} + 1)`,
    reason: 'a matter of degree: any falling lengths do',
  })),
  ...(
    [
      ['<', '<='],
      ['0', '(0 + 1)'],
      ['index >= 0 && text.indexOf(part, index + 1) < 0', '((index >= 0) || (text.indexOf(part, index + 1) < 0))'],
    ] as const
  ).map(([original, replacement]) => ({
    file: `${GUARDS}/service-contents.ts`,
    line: 'return index >= 0 && text.indexOf(part, index + 1) < 0 ? index : -1',
    original,
    replacement,
    reason:
      'the same boundaries: no later occurrence is at 0, and one at the beginning is found by the text after it as well',
  })),
  {
    file: `${GUARDS}/service-contents.ts`,
    line: 'while (length < most && one.charCodeAt(length) === other.charCodeAt(length)) length++',
    original: '<',
    replacement: '<=',
    reason: 'the same program: behind the end of a text there is no character, which equals nothing',
  },
  ...(
    [
      ['arguments-stage', 'const TAIL_LENGTH = 256', '256', '(256 + 1)', 'a matter of degree'],
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
      [
        'guarded-block',
        "const block = new GuardedBlock({ ...this.#kind, before: '' }, { ...this.#options, isRepeated: false })",
        'false',
        'true',
        'only memory: nobody asks for this text again',
      ],
      ['guarded-block', 'lastEvent = 0', '0', '(0 + 1)', 'never used: it is set with the first text'],
      [
        'guarded-block',
        'if (options.isRepeated) this.#output += text',
        'options.isRepeated',
        'true',
        'only memory: nobody asks for a text again',
      ],
      [
        'guarded-block',
        'if (this.#options.isRepeated) this.#input += original',
        'this.#options.isRepeated',
        'true',
        'only memory: nobody asks for a text again',
      ],
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
    file: 'base/in-slices.ts',
    line: 'let spentMs = 0',
    original: '0',
    replacement: '(0 + 1)',
    reason: 'only the first turn of a worker: all others set it',
  },
]
