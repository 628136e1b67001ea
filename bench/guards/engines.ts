import v8 from 'node:v8'
import { runAtOnce } from '#base/in-slices.ts'
import { compileRules } from '#protocols/llm/guards/rules/compile-rules.ts'
import { loadPhoneNumbers } from '#protocols/llm/guards/rules/phone-numbers.ts'
import { mayHaveNumber, SearchableText } from '#protocols/llm/guards/rules/searchable-text.ts'

/** Patterns of guards on the automaton and on the engines of the runtime: CPU of this thread (decision 0312). */

const PROSE = 'The quick brown fox jumps over the lazy dog, and then it writes an invoice of 1,250 dollars for March. '
const LONG = PROSE.repeat(1000).slice(0, 102_400)
const SHORT = LONG.slice(0, 1024)

/** Each in RE2 syntax, as an expression of the runtime, and its flags. */
const PATTERNS = [
  ['Bearer [\\w.-]+', 'Bearer [\\w.-]+', ''],
  ['[a-z]+ing [a-z]+ed', '[a-z]+ing [a-z]+ed', ''],
  ['\\d+ dollars', '\\d+ dollars', ''],
  ['\\b\\d{3}-\\d{2}-\\d{4}\\b', '\\b\\d{3}-\\d{2}-\\d{4}\\b', ''],
  ['sk-[A-Za-z0-9]{20,}', 'sk-[A-Za-z0-9]{20,}', ''],
  ['[\\w.+-]{1,64}@[a-z.-]{1,64}', '[\\w.+-]{1,64}@[a-z.-]{1,64}', ''],
  ['(?i)(password|secret)\\s*[:=]\\s*\\S+', '(?:password|secret)\\s*[:=]\\s*\\S+', 'i'],
  ['\\pL{3,40}-\\pN+', '\\p{L}{3,40}-\\p{N}+', 'u'],
] as const

/** Long enough for the clock of the CPU time, which ticks every few milliseconds. */
const RUN_MS = 200

/** Of one call, in microseconds. */
function cost(call: () => void): number {
  for (let i = 0; i < 20; i++) call()
  const before = process.threadCpuUsage()
  for (let calls = 0; ; ) {
    for (let i = 0; i < 20; i++) call()
    calls += 20
    const { user, system } = process.threadCpuUsage(before)
    if (user + system >= RUN_MS * 1000) return (user + system) / calls
  }
}

const figures = (call: (text: string) => void) =>
  `${cost(() => call(SHORT)).toFixed(1)} us for 1 KB, ${(cost(() => call(LONG)) / 1000).toFixed(2)} ms for 100 KB`

function findAll(expression: RegExp, text: string): void {
  expression.lastIndex = 0
  while (expression.test(text)) if (expression.lastIndex === 0) return
}

/** What the linear engine costs, or why it refuses the pattern. */
function linear(source: string, flags: string): string {
  try {
    const expression = new RegExp(source, `gl${flags}`)
    return figures((text) => findAll(expression, text))
  } catch (error) {
    return `refused, ${(error as Error).message.split(': ').at(-1)}`
  }
}

const BUILTINS = ['Ssn', 'CreditCard', 'PhoneNumber', 'Email', 'CaSin'] as const

const VALUES = ['123-45-6789', '4111 1111 1111 1111', '+49 89 636 48018', 'jane.doe@example.org', '046 454 286']
const TEXTS: Readonly<Record<string, string>> = {
  prose: PROSE,
  'other numbers': `${PROSE}Order 20261127-0815 of 2026-11-27 12:30:00, item 1234567. `,
  'a match of each in every 160 characters': `${PROSE}${VALUES.join(', ')}. `,
  'one long word': 'a'.repeat(1024),
  'one long number': '1'.repeat(1024),
  'many `@`': 'a@',
}

await loadPhoneNumbers()
for (const name of BUILTINS) {
  const [rule] = compileRules({ builtins: [name] }, () => {})
  const native = (text: string) => {
    const search = new SearchableText(text).search(rule!)
    return search === undefined ? [] : runAtOnce(search)
  }
  const automaton = (text: string) => {
    if (rule!.isNumeric && !mayHaveNumber(text)) return []
    const scanner = rule!.scan()
    scanner.push(text)
    scanner.finish()
    return scanner.takeMatches()
  }
  for (const [what, part] of Object.entries(TEXTS)) {
    const text = part.repeat(Math.ceil(102_400 / part.length)).slice(0, 102_400)
    const [one, other] = [automaton, native].map((find) => {
      const { length } = find(text)
      return `${(cost(() => find(text)) / 1000).toFixed(3)} ms, ${length} matches`
    })
    console.log(`${name}, ${what}: automaton ${one}; engine of the runtime ${other}`)
  }
}

v8.setFlagsFromString('--enable-experimental-regexp-engine')
for (const [pattern, source, flags] of PATTERNS) {
  const rules = compileRules({ matches: [pattern] }, (path, message) => {
    throw new Error(path + message)
  })
  const own = figures((text) => {
    const search = new SearchableText(text).search(rules[0]!)
    if (search !== undefined) runAtOnce(search)
  })
  console.log(`${pattern}\n  automaton: ${own}\n  linear engine of the runtime: ${linear(source, flags)}`)
}
