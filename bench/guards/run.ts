import { runAtOnce } from '#base/in-slices.ts'
import { compileRules } from '#protocols/llm/guards/rules/compile-rules.ts'
import { MaskPipeline } from '#protocols/llm/guards/rules/mask-pipeline.ts'
import { loadPhoneNumbers } from '#protocols/llm/guards/rules/phone-numbers.ts'
import { SearchableText } from '#protocols/llm/guards/rules/searchable-text.ts'
import { type GuardSpec, guardedRequest, guardedStream } from './whole-path.ts'

/** The cost of regex guards: CPU of this process for a text of 1 KB and one of 100 KB, and for each event of a stream. */

const PROSE = 'The quick brown fox jumps over the lazy dog, and then it writes an invoice of 1,250 dollars for March. '
const KILOBYTE = PROSE.repeat(10).slice(0, 1024)
const LONG = PROSE.repeat(1000).slice(0, 102_400)
/** Vendors stream words with the space before them. */
const WORDS = KILOBYTE.split(/(?= )/)

const BUILTINS = ['Ssn', 'CreditCard', 'PhoneNumber', 'Email', 'CaSin'] as const
const LITERAL = ['sk-[A-Za-z0-9]{20,}', 'AKIA[0-9A-Z]{16}', 'Bearer [\\w.-]+']

const CASES: Readonly<Record<string, Parameters<typeof compileRules>[0]>> = {
  'five built-ins, three patterns with a literal': { builtins: [...BUILTINS], matches: LITERAL },
  ...Object.fromEntries(BUILTINS.map((name) => [name, { builtins: [name] }])),
  'one pattern with a literal': { matches: LITERAL.slice(0, 1) },
  '(?i)(password|secret)\\s*[:=]\\s*\\S+': { matches: ['(?i)(password|secret)\\s*[:=]\\s*\\S+'] },
  '[a-z]+ing [a-z]+ed': { matches: ['[a-z]+ing [a-z]+ed'] },
  '\\pL{3,40}-\\pN+': { matches: ['\\pL{3,40}-\\pN+'] },
}

const ROUNDS = 4
/** Of each round: the clock of the processor ticks every few milliseconds. */
const ROUND_US = 200_000

/** CPU of one call, in microseconds: the least of a few rounds, because other programs share the machine. */
function cost(times: number, call: () => void): number {
  for (let i = 0; i < times; i++) call()
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage()
    for (let calls = times; ; calls += times) {
      for (let i = 0; i < times; i++) call()
      const { user } = process.cpuUsage(before)
      if (user >= ROUND_US) return user / calls
    }
  })
  return Math.min(...rounds)
}

await loadPhoneNumbers()
for (const [name, spec] of Object.entries(CASES)) {
  const rules = compileRules(spec, (path, message) => {
    throw new Error(path + message)
  })
  const mask = (text: string) => {
    const searched = new SearchableText(text)
    for (const rule of rules) {
      const search = searched.search(rule)
      if (search !== undefined) runAtOnce(search)
    }
  }
  const short = cost(3000, () => mask(KILOBYTE))
  const long = cost(30, () => mask(LONG))
  const stream = cost(200, () => {
    const pipeline = new MaskPipeline(rules)
    for (const word of WORDS) {
      pipeline.push(word)
      pipeline.take()
    }
    pipeline.finish()
  })
  const figures = [`${short.toFixed(1)} us for 1 KB`, `${(long / 1000).toFixed(2)} ms for 100 KB`]
  console.log(`${name}: ${figures.join(', ')}, ${(stream / WORDS.length).toFixed(2)} us for an event`)
}

const ALL: GuardSpec = { builtins: [...BUILTINS], matches: LITERAL }
for (const [name, text] of [
  ['1 KB', KILOBYTE],
  ['100 KB', LONG],
] as const) {
  const us = cost(text === LONG ? 300 : 10_000, guardedRequest(ALL, text))
  console.log(`a request of ${name}, read and guarded: ${us.toFixed(1)} us`)
}
for (const format of ['Completions', 'Messages', 'Responses'] as const) {
  for (const [name, spec] of [
    ['Email', { builtins: ['Email'] }],
    ['five built-ins, three patterns with a literal', ALL],
  ] as const) {
    const us = cost(300, guardedStream(spec as GuardSpec, format, WORDS)) / WORDS.length
    console.log(`an event of ${format}, read and guarded by ${name}: ${us.toFixed(2)} us`)
  }
}
