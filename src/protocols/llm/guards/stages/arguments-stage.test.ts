import { expect, test } from 'vitest'
import { type ArgumentPiece, ArgumentsStage } from './arguments-stage.ts'
import type { TextOutput } from './text-stage.ts'

interface Options {
  /** What the guard makes of a text that it is given. */
  readonly mask?: (text: string) => string
  /** Texts pass when the test lets them. */
  readonly holds?: boolean
  readonly begun?: ArgumentsStage<unknown>
}

const secret = (text: string) => text.replace('secret', '"')

/** A stage, what happens in it, and the texts that wait for a verdict. Deltas are numbered. */
function stageOf({ mask = secret, holds = false, begun }: Options = {}) {
  const log: string[] = []
  const held: (() => void)[] = []
  const build = (checked: TextOutput<ArgumentPiece<number>>) => {
    const check = (what: string) => {
      log.push(what)
      return {
        text(piece: ArgumentPiece<number>, text: string) {
          log.push(`check ${text}`)
          const pass = () => checked.text(piece, mask(text))
          if (holds) held.push(pass)
          else pass()
        },
        finish: () => void log.push(`${what} ends`),
      }
    }
    return {
      string: (isFixed: boolean, goesOn: boolean) =>
        check(`${isFixed ? 'fixed string' : 'string'}${goesOn ? ' goes on' : ''}`),
      text: (before: string | undefined, cut: string) => check(`text behind ${before}${cut && `, ${cut} has left`}`),
      left: (text: string) => {
        log.push(`left ${text}`)
        return true
      },
      finish: () => checked.finish(),
    }
  }
  const out = {
    text: (tag: number, text: string) => void log.push(`${tag}: ${text}`),
    finish: () => void log.push('over'),
  }
  const stage = new ArgumentsStage(out, build, begun)
  let count = 0
  const push = (...texts: readonly string[]) => {
    for (const text of texts) stage.text(++count, text)
  }
  const take = () => log.splice(0)
  return { stage, push, held, take }
}

/** All that happens. */
function happens(texts: readonly string[], options: Options = {}): string[] {
  const { stage, push, take } = stageOf(options)
  push(...texts)
  stage.finish()
  return take()
}

test('each string is checked by itself, and each delta leaves as soon as it can', () => {
  const { stage, push, take } = stageOf()
  push('{"a":')
  expect(take()).toEqual(['fixed string', 'check a', 'fixed string ends', 'left {"a":', '1: {"a":'])
  push('"b\\u0063')
  expect(take()).toEqual(['string', 'check b', 'check c', 'left "b\\u0063', '2: "b\\u0063'])
  push('', 'd"', '}')
  expect(take()).toEqual(['left ', '3: ', 'check d', 'string ends', 'left d"', '4: d"', 'left }', '5: }'])
  stage.finish()
  expect(take()).toEqual(['over'])
  expect(stage.isPlain).toBe(false)
})

test.each<[texts: string[], passed: string[]]>([
  [['{"a":"a secret","b":["secret","c"]}'], ['{"a":"a \\"","b":["\\"","c"]}']],
  [
    ['["x\\u00', '65 secret'],
    ['["x\\u00', '65 \\"'],
  ],
  [
    ['["x\\u', '00', '65 secret"]'],
    ['["x\\u', '00', '65 \\""]'],
  ],
  [
    ['[1', '2', ',"secret"]'],
    ['[1', '2', ',"\\""]'],
  ],
  [
    ['[1', '2', ' ,', '"secret"]'],
    ['[1', '2', ' ,', '"\\""]'],
  ],
  [
    ['["\ud83d', '\ude42secret"]'],
    ['["', '🙂\\""]'],
  ],
  [
    ['{"a":secret, "secret"', ' secret'],
    ['{"a":", "secret"', ' "'],
  ],
  [
    ['{"a":"secret",secret', 'more'],
    ['{"a":"\\"","', 'more'],
  ],
  [
    ['[1', '2 ', 'secret'],
    ['[1', '2 ', '"'],
  ],
  [['12 secret'], ['12 "']],
  [
    [' ', '\n'],
    [' ', '\n'],
  ],
])('the strings of %j become %j', (texts, passed) => {
  const outcome = happens(texts).filter((line) => /^\d: |^over$/.test(line))
  expect(outcome).toEqual([...passed.map((text, at) => `${at + 1}: ${text}`), 'over'])
})

test('an end that may go on waits for the next delta', () => {
  const { stage, push, take } = stageOf()
  push('[1', '2', '3')
  expect(take()).toEqual([])
  push(']')
  expect(take()).toEqual(['left [1', '1: [1', 'left 2', '2: 2', 'left 3', '3: 3', 'left ]', '4: ]'])
  const next = stageOf()
  next.push('["a', '\\')
  expect(next.take()).toEqual(['string', 'check a', 'left ["a', '1: ["a'])
  next.push('n')
  expect(next.take()).toEqual(['check \n', 'left \\', '2: \\', 'left n', '3: n'])
  stage.finish()
  expect(take()).toEqual(['over'])
})

test('text that is cut off leaves when it ends', () => {
  expect(happens(['["a\\'])).toEqual(['string', 'check a', 'string ends', 'left ["a', '1: ["a\\', 'over'])
  expect(happens(['[1', '2'])).toEqual(['left [', '1: [1', 'left ', '2: 2', 'over'])
  expect(happens([])).toEqual(['over'])
})

test('what is no JSON is checked as a text, from there on, behind what is before it', () => {
  const { stage, push, take } = stageOf()
  push('{"a":1,')
  take()
  push('"secret":secret')
  expect(take()).toEqual([
    ...['fixed string', 'check secret', 'fixed string ends', 'text behind "\\"":', 'check secret', '2: "\\"":"'],
  ])
  expect(stage.isPlain).toBe(true)
  push('"a"')
  expect(take()).toEqual(['check "a"', '3: "a"'])
  stage.finish()
  expect(take()).toEqual(['text behind "\\"": ends', 'over'])
})

test('a string that turns out to be none ends there', () => {
  const told = ['string', 'check a', 'string ends', 'text behind ["a', 'check \\x"]', '1: ["a\\x"]']
  expect(happens(['["a\\x"]'])).toEqual([...told, 'text behind ["a ends', 'over'])
})

test('ends that waited for a delta that is no JSON are checked with it', () => {
  const told = ['text behind [', 'check 1', 'check 2', 'check a', '1: [1', '2: 2', '3: a']
  expect(happens(['[1', '2', 'a'], { mask: (text) => text })).toEqual([...told, 'text behind [ ends', 'over'])
})

test('what does not begin as JSON stands behind nothing', () => {
  const told = ['text behind undefined', 'check  ', 'check a', '1:  ', '2: a']
  expect(happens([' ', 'a'])).toEqual([...told, 'text behind undefined ends', 'over'])
  const space = ['text behind undefined', 'check  ', '1:  ', 'text behind undefined ends', 'over']
  expect(happens([' '])).toEqual(space)
})

test('deltas leave in order, each when all of it has passed', () => {
  const { stage, push, held, take } = stageOf({ holds: true })
  push('["a', 'b","', 'secret"', ']')
  const [a, b, masked] = held
  take()
  masked!()
  b!()
  expect(take()).toEqual([])
  a!()
  const left = ['["a', 'b","', '\\""', ']'].flatMap((text, at) => [`left ${text}`, `${at + 1}: ${text}`])
  expect(take()).toEqual(left)
  push(' ')
  expect(take()).toEqual(['left  ', '5:  '])
  stage.finish()
  expect(take()).toEqual(['over'])
})

test('the beginning of a character waits for the verdict on it', () => {
  const { push, held, take } = stageOf({ holds: true })
  push('["', '\\u00', '65')
  expect(take()).toEqual(['string', 'left ["', '1: ["', 'check e'])
  held[0]!()
  expect(take()).toEqual(['left \\u00', '2: \\u00', 'left 65', '3: 65'])
})

test('what is held has no end', () => {
  const { stage, push, take } = stageOf({ holds: true })
  push('["a"]')
  stage.finish()
  expect(take()).toEqual(['string', 'check a', 'string ends'])
})

test('text behind the end goes on where the beginning was', () => {
  const goOn = (beginning: string, rest: string) => {
    const { stage, push } = stageOf()
    push(beginning)
    stage.finish()
    return happens([rest], { begun: stage })
  }
  const end = ['string goes on ends', 'over']
  expect(goOn('["a', 'secret')).toEqual(['string goes on', 'check secret', 'left \\"', '1: \\"', ...end])
  expect(goOn('{"a', 'b')).toEqual([
    'fixed string goes on',
    'check b',
    'left b',
    '1: b',
    'fixed string goes on ends',
    'over',
  ])
  expect(goOn('["a\\u00', '65')).toEqual([
    'fixed string goes on',
    'left \\u00',
    'check e',
    'left 65',
    '1: 65',
    'fixed string goes on ends',
    'over',
  ])
  expect(goOn('["a",', ' ')).toEqual(['left  ', '1:  ', 'over'])
  const text = ['text behind undefined', 'check a', '1: a', 'text behind undefined ends', 'over']
  for (const plain of ['plain', ' ', '["b" 1']) expect(goOn(plain, 'a')).toEqual(text)
})

test('what has left of a number or an escape is JSON when that is complete, and no JSON if it is none', () => {
  const goOn = (...texts: readonly string[]) => {
    let { stage, push, take } = stageOf()
    const told: string[] = []
    for (const text of texts) {
      push(text)
      stage.finish()
      told.push(...take().filter((line) => /^(?:left|text behind) ?./.test(line) && !line.endsWith(' ends')))
      ;({ stage, push, take } = stageOf({ begun: stage }))
    }
    return told
  }
  expect(goOn('[12', ']')).toEqual(['left [', 'left 12', 'left ]'])
  expect(goOn('[1', '2', '3 ')).toEqual(['left [', 'left ', 'left 12', 'left 3 '])
  expect(goOn('[1', '2', 'x')).toEqual(['left [', 'left ', 'text behind , 12 has left'])
  expect(goOn('["a\\u0', '0', 'zz')).toEqual(['left ["a', 'left ', 'text behind , \\u00 has left'])
  expect(goOn('["\\ud83d\\ud8', '3d\\q')).toEqual(['left ["', 'left \\ud83d', 'text behind , \\ud8 has left'])
  expect(goOn('[1', '2,3x')).toEqual(['left [', 'left 1', 'text behind 2,'])
})
