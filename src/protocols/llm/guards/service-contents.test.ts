import { expect, test } from 'vitest'
import { type ChangeableText, maskJoined } from './service-contents.ts'

/** Texts of one message, joined with spaces; a `!` at the beginning is one that cannot change. */
function spread(before: readonly string[], after: string): readonly string[] | false {
  const texts: ChangeableText[] = before.map((text) => ({
    text: text.replace(/^!/, ''),
    canChange: !text.startsWith('!'),
  }))
  return maskJoined(texts, after) && texts.map(({ text }) => text)
}

test.each<[string[], string, string[] | false]>([
  [['my a@b is'], 'my <E> is', ['my <E> is']],
  [['same', 'text'], 'same text', ['same', 'text']],
  [['write to a@b', 'now'], 'write to <E> now', ['write to <E>', 'now']],
  [['write to', 'a@b now'], 'write to <E> now', ['write to', '<E> now']],
  [['x a', 'b y'], 'x <AB> y', ['x <AB>', ' y']],
  [['a', 'b', 'c'], '<ALL>', ['<ALL>', '<masked>', '<masked>']],
  [['one', 'two'], 'one  two', ['one', ' two']],
  [['one', 'two'], 'onetwo', false],
  [['keep', '!call'], '<K> call', ['<K>', 'call']],
  [['keep', '!call'], 'keep <C>', false],
  [['keep', '!call'], '<ALL>', false],
  [['😀 x'], '😁 x', ['😁 x']],
  [['x 😀'], 'x 🨀', ['x 🨀']],
  [['secret'], '', ['<masked>']],
  // Each mask stays in its text.
  [['mail a@b or', 'mail c@d too'], 'mail <E> or mail <E> too', ['mail <E> or', 'mail <E> too']],
  [['I am a@b.', 'ok', 'I am c@d.'], 'I am <E>. ok I am <E>.', ['I am <E>.', 'ok', 'I am <E>.']],
  [['mail a@b', '!call(1)', 'mail c@d'], 'mail <E> call(1) mail <E>', ['mail <E>', 'call(1)', 'mail <E>']],
])('%j -> %j', (before, after, expected) => {
  expect(spread(before, after)).toEqual(expected)
})
