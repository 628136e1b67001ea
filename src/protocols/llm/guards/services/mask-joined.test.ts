import { expect, test } from 'vitest'
import { Pace, runAtOnce } from '#base/in-slices.ts'
import { maskJoined } from './mask-joined.ts'
import type { ChangeableText } from './spread-mask.ts'

/** Texts of one message, joined with spaces; a `!` at the beginning is one that cannot change. */
function spread(before: readonly string[], after: string): readonly string[] | false {
  const texts: ChangeableText[] = before.map((text) => ({
    text: text.replace(/^!/, ''),
    canChange: !text.startsWith('!'),
  }))
  return runAtOnce(maskJoined(texts, after, new Pace())) && texts.map(({ text }) => text)
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
  [['!mail a@b', 'now'], 'mail <E> now', false],
  [['😀 x'], '😁 x', ['😁 x']],
  [['x 😀'], 'x 🨀', ['x 🨀']],
  [['secret'], '', ['<masked>']],
  // Each mask stays in its text.
  [['mail a@b or', 'mail c@d too'], 'mail <E> or mail <E> too', ['mail <E> or', 'mail <E> too']],
  [['I am a@b.', 'ok', 'I am c@d.'], 'I am <E>. ok I am <E>.', ['I am <E>.', 'ok', 'I am <E>.']],
  [['mail a@b', '!call(1)', 'mail c@d'], 'mail <E> call(1) mail <E>', ['mail <E>', 'call(1)', 'mail <E>']],
  [['', 'mail a@b'], ' mail <E>', ['', 'mail <E>']],
  [['mail a@b', '', 'x'], 'mail <E>  x', ['mail <E>', '', 'x']],
  // Masks that are much longer, or much shorter, than what they cover.
  [
    ['mail a@b', 'ok then', 'c@d'],
    `mail <${'E'.repeat(40)}> ok then <E>`,
    [`mail <${'E'.repeat(40)}>`, 'ok then', '<E>'],
  ],
  [
    [`${'m'.repeat(300)} a@b`, 'and then', 'c@d'],
    `${'m'.repeat(300)} <E> and then <E>`,
    [`${'m'.repeat(300)} <E>`, 'and then', '<E>'],
  ],
  [['x'.repeat(5000), 'and then', 'y'], '<X> and then <Y>', ['<X>', 'and then', '<Y>']],
  [['ab', 'ab', 'ab', 'S!1', 'ab', 'T!2'], 'ab ab ab <M> ab <N>', ['ab', 'ab', 'ab', '<M>', 'ab', '<N>']],
  [['', 'ab', 'S!1', 'ab', 'T!2'], ' ab <M> ab <N>', ['', 'ab', '<M>', 'ab', '<N>']],
  // A text that is gone, and one that has become longer.
  [['S!1', 'ab', 'T!2', 'xab', 'U!3'], ' ab <M> xab <N>', ['<masked>', 'ab', '<M>', 'xab', '<N>']],
  [['ab', 'S!1', 'x', 'T!2'], '# ab <M> x <N>', ['# ab', '<M>', 'x', '<N>']],
  // A boundary counts only where the text around it occurs once.
  [['S!1   ', 'T!2'], '<M>     <N>', ['<M>     <N>', '<masked>']],
  [['a', 'b', 'a', 'b'], 'a <M> a b', ['a', '<M>', 'a', 'b']],
])('%j -> %j', (before, after, expected) => {
  expect(spread(before, after)).toEqual(expected)
})

test('of many texts that look alike, each keeps its masks', () => {
  const texts = Array.from({ length: 3000 }, (_, i) => ({
    text: `Part ${i} is of a@b.co, ok.`,
    canChange: i % 3 === 0,
  }))
  const before = texts.map(({ text }) => text)
  const after = before.map((text, i) => (i % 3 === 0 ? text.replace('a@b.co', '<EMAIL_ADDRESS>') : text))
  expect(runAtOnce(maskJoined(texts, after.join(' '), new Pace()))).toBe(true)
  expect(texts.map(({ text }) => text)).toEqual(after)
})

const long = 'The quick brown fox. '

/** What a service makes of a text. */
test.each<[name: string, text: (index: number) => string, mask: (text: string, index: number) => string]>([
  ['a mask in each text', (i) => `part ${i} of ${long}, a@b.co`, (text) => text.replace('a@b.co', '<E>')],
  ['a mask in the middle of texts without a difference', () => `a@b ${long}`, (text) => text.replace('quick', '<Q>')],
  ['nothing as it was', (i) => `part ${i} of ${long}`, (text) => 'x'.repeat(text.length)],
  ['spaces', () => '  ', (text) => `${text} `],
  ['no text at all', (i) => `${i}`, () => ''],
  ['much more text', (i) => `part ${i}`, (text) => text.repeat(9)],
])('the work for %s grows with the texts only', (_, text, mask) => {
  for (const count of [5000, 20_000]) {
    const before = Array.from({ length: count }, (_, i) => text(i))
    const after = before.map(mask).join(' ')
    const texts = before.map((part) => ({ text: part, canChange: true }))
    const steps = maskJoined(texts, after, new Pace())
    let yields = 0
    while (!steps.next().done) yields++
    // 64 characters are searched for each, and 4,096 for each text, a unit of work for 8 of them; 16,384 units are a step.
    const { length } = before.join('')
    const most = ((4096 + 64) * count + 65 * length) / 8 / 16_384 + 20
    expect(yields).toBeGreaterThan(0)
    expect(yields).toBeLessThan(most)
  }
})
