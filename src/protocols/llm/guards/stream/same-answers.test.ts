import { expect, test } from 'vitest'
import { reject } from '#exchange/outcome.ts'
import { sampleSize } from '#test/support/sample-size.ts'
import { type SeededRandom, seededRandom } from '#test/support/seeded-random.ts'
import type { ChatType } from '../../dialects/index.ts'
import { pass } from '../../testing.ts'
import type { RegexGuard } from '../guard.ts'
import { compileRules } from '../rules/compile-rules.ts'
import { PATTERNS } from '../rules/testing.ts'
import type { TextRule } from '../rules/text-rule.ts'
import { DIALECTS, isBeginning, isJson, readStream, shown, sse } from './testing.ts'

const BUILTINS = ['Ssn', 'Email', 'CreditCard', 'PhoneNumber', 'CaSin'] as const

/** Each pattern and each built-in rule, compiled once. */
const RULES = [
  ...PATTERNS.map((pattern) => ({ about: pattern, rule: compiled({ matches: [pattern] }) })),
  ...BUILTINS.map((builtin) => ({ about: builtin, rule: compiled({ builtins: [builtin] }) })),
]

function compiled(spec: Parameters<typeof compileRules>[0]): TextRule {
  const [rule] = compileRules(spec, (_, message) => {
    throw new Error(message)
  })
  return rule!
}

function guardFrom(random: SeededRandom, index: number): { about: readonly string[]; guard: RegexGuard } {
  const picked = Array.from({ length: 1 + random.below(3) }, () => random.pick(RULES))
  const rules = picked.map(({ rule }) => rule)
  const refusal = reject('prompt-guard-rejected')
  const guard = { phase: 'response', index, kind: 'regex', rules, rejects: false, refusal } as const
  return { about: picked.map(({ about }) => about), guard }
}

test.each(Object.entries(DIALECTS))(
  'a streamed answer of %s is masked as the whole one, or a guard ends it',
  (name, dialect) => {
    const random = seededRandom(name.length)
    const type = name as ChatType
    const found = { ended: 0, masked: 0, refused: 0 }
    const count = sampleSize(300, 5000)
    for (let each = 0; each < count; each++) {
      const guarding = Array.from({ length: 1 + random.below(3) }, (_, index) => guardFrom(random, index))
      const guards = guarding.map(({ guard }) => guard)
      const { whole, events } = dialect.answer(random)
      const bytes = events.map(sse).join('')
      const checked = pass(JSON.stringify(whole), { type, guards, contentType: 'application/json' })
      const cuts = Array.from({ length: 4 }, () => 1 + random.below(bytes.length))
      const stream = pass(bytes, { type, guards, cuts })
      const { texts, hasError } = readStream(dialect, stream.text)
      const isEnded = hasError || stream.refusal !== undefined
      const patterns = guarding.map(({ about }) => about)
      const fail = (what: string) => {
        const got = { checked: checked.text, texts: [...texts], isEnded }
        throw new Error(`${what}: ${JSON.stringify({ each, patterns, whole, events, got })}`)
      }
      if (checked.refusal !== undefined) {
        found.refused++
        if (!isEnded) fail('only the whole answer is refused')
        continue
      }
      const expected = dialect.read(JSON.parse(checked.text))
      const original = dialect.read(whole)
      if (!isEnded) {
        if (shown(texts) !== shown(expected)) fail('other masks')
        if (shown(expected) !== shown(original)) found.masked++
        continue
      }
      found.ended++
      for (const [key, text] of texts) {
        if (!isJson(key) && !isBeginning(text, expected.get(key) ?? '')) fail(`more has left of ${key}`)
      }
    }
    expect(found.masked).toBeGreaterThan(0)
  },
)
