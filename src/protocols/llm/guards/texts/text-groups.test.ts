import { expect, test } from 'vitest'
import { Pace, runAtOnce } from '#base/in-slices.ts'
import type { TextRole } from '../../texts/body-texts.ts'
import type { AnswerFormat } from '../../texts/read-together.ts'
import { GuardedText } from './guarded-text.ts'
import { groupAnswer, groupRequest, type JoinedRun, type TextGroups } from './text-groups.ts'

interface RunOptions {
  readonly lasts?: boolean
  readonly isOne?: boolean
  /** The texts that do not join. */
  readonly apart?: readonly string[]
}

function runOf(
  role: TextRole,
  texts: readonly string[],
  { lasts = true, isOne = false, apart = [] }: RunOptions = {},
): JoinedRun {
  return {
    role,
    lasts,
    isOne,
    texts: texts.map((text) => new GuardedText(text, true, !apart.includes(text))),
    places: texts.map((path) => ({ path })),
  }
}

const shown = (groups: TextGroups) => groups.map((group) => group.map(({ text }) => text))
const requestGroups = (runs: readonly JoinedRun[]) => shown(runAtOnce(groupRequest(runs, new Pace())))

const [PASSING, ONE] = [{ lasts: false }, { isOne: true }]

test.each<[what: string, runs: JoinedRun[], groups: string[][]]>([
  ['a text is not a group', [runOf('user', ['a'])], []],
  ['the texts of a run', [runOf('user', ['a', 'b'])], [['a', 'b']]],
  [
    'a text that does not join',
    [runOf('user', ['a', 'b', 'c'], { apart: ['b'] }), runOf('user', ['d', 'e'], { apart: ['d'] })],
    [
      ['a', 'c'],
      ['a', 'c', 'e'],
    ],
  ],
  ['one text that joins', [runOf('user', ['a', 'b'], { apart: ['b'] })], []],
  ['neighbours of one role', [runOf('user', ['a']), runOf('user', ['b']), runOf('user', ['c'])], [['a', 'b', 'c']]],
  ['another role between', [runOf('user', ['a']), runOf('assistant', ['b']), runOf('user', ['c'])], []],
  [
    'a blank message of another role between, which joins nothing',
    [runOf('user', ['a']), runOf('assistant', [' ', '\n']), runOf('user', ['c'])],
    [
      [' ', '\n'],
      ['a', 'c'],
    ],
  ],
  [
    'a message of another role between whose text does not join',
    [runOf('user', ['a']), runOf('assistant', ['b'], { apart: ['b'] }), runOf('user', ['c'])],
    [['a', 'c']],
  ],
  ['a blank message of the same role', [runOf('user', ['a']), runOf('user', [' '])], [['a', ' ']]],
  ['a first message that is blank', [runOf('user', [' ']), runOf('assistant', ['b'])], []],
  [
    'a run that is one is not joined with its neighbours',
    [runOf('user', ['a']), runOf('user', ['b', 'c'], ONE), runOf('user', ['d'])],
    [
      ['b', 'c'],
      ['a', 'd'],
    ],
  ],
  [
    'without what a translation leaves out',
    [runOf('assistant', ['a']), runOf('assistant', ['b'], PASSING), runOf('assistant', ['c'])],
    [
      ['a', 'b', 'c'],
      ['a', 'c'],
    ],
  ],
  [
    'without several of them',
    [
      runOf('assistant', ['a']),
      runOf('assistant', ['b'], PASSING),
      runOf('assistant', [' '], PASSING),
      runOf('assistant', ['c']),
      runOf('assistant', ['d']),
    ],
    [
      ['a', 'b', ' ', 'c', 'd'],
      ['a', 'c', 'd'],
    ],
  ],
  [
    'what a translation leaves out, of another role',
    [runOf('user', ['a']), runOf('assistant', ['b'], PASSING), runOf('user', ['c'])],
    [['a', 'c']],
  ],
  [
    'blank text that a translation leaves out leaves the same',
    [runOf('assistant', ['a']), runOf('assistant', [' '], PASSING), runOf('assistant', ['c'])],
    [['a', ' ', 'c']],
  ],
  [
    'what is left out at the beginning and the end leaves neighbours as they are',
    [
      runOf('assistant', ['a'], PASSING),
      runOf('assistant', ['b']),
      runOf('assistant', ['c']),
      runOf('assistant', ['d'], PASSING),
    ],
    [['a', 'b', 'c', 'd']],
  ],
  [
    'what was left out in front of one role says nothing of the next',
    [runOf('user', ['a'], PASSING), runOf('user', ['b']), runOf('assistant', ['c']), runOf('assistant', ['d'])],
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  [
    'all of the system',
    [
      runOf('system', ['a']),
      runOf('user', ['b']),
      runOf('system', ['c']),
      runOf('user', ['d']),
      runOf('system', ['e']),
    ],
    [['a', 'c', 'e']],
  ],
  [
    'all of the system, of which a part is at the beginning',
    [runOf('system', ['a']), runOf('user', ['b']), runOf('system', ['c']), runOf('system', ['d'])],
    [
      ['c', 'd'],
      ['a', 'c', 'd'],
    ],
  ],
  [
    'a system whose messages are neighbours',
    [runOf('user', ['a']), runOf('system', ['b']), runOf('system', ['c'])],
    [['b', 'c']],
  ],
  [
    'a system whose messages are neighbours but for a blank message',
    [runOf('system', ['a']), runOf('user', [' ']), runOf('system', ['b'])],
    [['a', 'b']],
  ],
])('of a request: %s', (_, runs, groups) => {
  expect(requestGroups(runs)).toEqual(groups)
})

test.each<[what: string, format: AnswerFormat, runs: JoinedRun[], groups: string[][]]>([
  [
    'the choices apart',
    'Completions',
    [
      runOf('assistant', ['choices[0].message.content', 'choices[0].message.reasoning']),
      runOf('assistant', ['choices[1].message.content']),
    ],
    // In the order in which providers send them.
    [['choices[0].message.reasoning', 'choices[0].message.content']],
  ],
  [
    'a text that does not join',
    'Messages',
    [runOf('assistant', ['content[0].text', 'content[1].text', 'content[2].text'], { apart: ['content[1].text'] })],
    [['content[0].text', 'content[2].text']],
  ],
  [
    'a run that is one, and only its texts',
    'Messages',
    [
      runOf('tool', ['content[0].text', 'content[1].text'], ONE),
      runOf('tool', ['content[2].text'], ONE),
      runOf('assistant', ['content[3].text']),
    ],
    [['content[0].text', 'content[1].text']],
  ],
  [
    'sequences with the same texts once',
    'Responses',
    [runOf('assistant', ['output[0].content[0].text', 'output[0].content[1].text'])],
    [['output[0].content[0].text', 'output[0].content[1].text']],
  ],
  [
    'sequences with the same first text, as often as they differ',
    'Responses',
    [
      runOf('assistant', ['output[0].content[0].text', 'output[0].content[1].refusal', 'output[0].content[2].text']),
      runOf('assistant', ['output[1].content[0].text']),
    ],
    [
      ['output[0].content[0].text', 'output[0].content[1].refusal', 'output[0].content[2].text'],
      [
        'output[0].content[0].text',
        'output[0].content[1].refusal',
        'output[0].content[2].text',
        'output[1].content[0].text',
      ],
      ['output[0].content[0].text', 'output[0].content[2].text', 'output[1].content[0].text'],
    ],
  ],
  [
    'without thoughts, which a client may leave out',
    'Responses',
    [
      runOf('assistant', ['output[0].summary[0].text'], PASSING),
      runOf('assistant', ['output[1].content[0].text']),
      runOf('assistant', ['output[2].content[0].text']),
    ],
    [
      ['output[0].summary[0].text', 'output[1].content[0].text', 'output[2].content[0].text'],
      ['output[1].content[0].text', 'output[2].content[0].text'],
    ],
  ],
])('of an answer: %s', (_, format, runs, groups) => {
  expect(shown(runAtOnce(groupAnswer(runs, format, new Pace())))).toEqual(groups)
})
