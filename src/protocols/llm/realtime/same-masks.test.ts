import { expect, test } from 'vitest'
import { writeTextFrame } from '#net/websocket/write-frame.ts'
import { seededRandom } from '#test/support/seeded-random.ts'
import { BUILTIN_TEXTS, CHARS, maskWhole, PATTERNS, sharedRules } from '../guards/rules/testing.ts'
import { open } from './testing.ts'

type Spec = Parameters<typeof sharedRules>[0]

/** Each pattern, and each built-in rule, with a text that it masks, and that text masked. */
function maskedTexts() {
  const random = seededRandom(8)
  const masked = (regex: Spec, text: string) => ({ regex, text, expected: maskWhole(sharedRules(regex), text) })
  const cases = PATTERNS.map((pattern) => {
    for (;;) {
      const found = masked({ matches: [pattern] }, Array.from({ length: 8 }, () => random.pick(CHARS)).join(''))
      if (found.expected !== found.text) return found
    }
  })
  return [...cases, ...BUILTIN_TEXTS.map(([builtin, text]) => masked({ builtins: [builtin] }, text))]
}

const eventOf = (text: string) =>
  JSON.stringify({
    type: 'conversation.item.create',
    item: { id: 'a', type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
  })

/** A message in two frames of a client. */
function inFrames(message: Buffer, at: number): Buffer {
  const [first, last] = [message.subarray(0, at), message.subarray(at)].map((part) => writeTextFrame('client', part))
  // The first one is not the last, and the second one continues it (RFC 6455, 5.4).
  first![0] = 0x01
  last![0] = 0x80
  return Buffer.concat([first!, last!])
}

test.each(maskedTexts())(
  'an event is masked as the same text in one piece, wherever its bytes and its frames are split: $regex',
  ({ regex, text, expected }) => {
    const message = Buffer.from(eventOf(text))
    const session = open([{ regex: { action: 'Mask', ...regex } }])
    const frame = writeTextFrame('client', message)
    const ways = [
      ...Array.from({ length: frame.length - 1 }, (_, at) => [frame.subarray(0, at + 1), frame.subarray(at + 1)]),
      ...Array.from({ length: message.length + 1 }, (_, at) => [inFrames(message, at)]),
    ]
    for (const pieces of ways) for (const piece of pieces) session.says(piece)
    const shown = session.up.map((event) => JSON.parse(event).item.content[0].text)
    expect({ text, shown }).toEqual({ text, shown: ways.map(() => expected) })
  },
)
