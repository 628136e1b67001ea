import { prepare } from '#test/support/prepare-llm.ts'

// Usage: node fuzz/llm/bodies.ts [seconds] [seed]
// See README.md in this folder.

const seconds = Number(process.argv[2] ?? 30)
const firstSeed = Number(process.argv[3] ?? Date.now() % 2 ** 32)

const BODIES = [
  '{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}],"max_tokens":5,"stream":true}',
  '{"model":"a","messages":[{"role":"system","content":[{"type":"text","text":"bad \\u0062ad"},{"text":"x"}]}],"n":1.50e3,"stream_options":{"x":[]}}',
  '{ "messages" : [ ] , "stream":true,"stream_options":{"include_usage":false}, "temperature":0, "\\u006dodel":"x" }',
  '{"model":"o3","messages":[{"tool_calls":[{"function":{"arguments":"{\\"a\\":\\"b\\"}"}}]}],"max_completion_tokens":1,"max_tokens":2}',
]
const PIECES = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  ' ',
  '\n',
  'null',
  'true',
  '1',
  '-',
  '"model":"x"',
  '\\u0022',
  'é',
  '\0',
]

const SETUP = {
  usageNeeded: true,
  ai: {
    defaults: [{ field: 'temperature', value: 1 }],
    overrides: [{ field: 'top_p', value: 0.5 }],
    transformations: [{ field: 'n', expression: 'fails' }],
    modelAliases: { a: 'b' },
    prompt: { prepend: [{ role: 'system', content: 'rules' }], append: [{ role: 'user', content: 'end' }] },
    promptGuard: { request: [{ regex: { matches: ['bad'], action: 'Mask' as const } }] },
  },
}

const counts = { bodies: 0, sent: 0, plain: 0 }
const until = performance.now() + seconds * 1000
let seed = firstSeed
while (performance.now() < until) check(damage(++seed))
console.log(`seed ${firstSeed} to ${seed}:`, counts)

function check(body: string): void {
  counts.bodies++
  const before = parse(body)
  const plain = send(body, {})
  if (plain !== undefined) counts.plain++
  if (plain !== undefined && before === undefined && parse(withoutStrings(body)) === undefined)
    fail('accepted', body, plain)
  const changed = send(body, SETUP)
  if (changed === undefined) return
  counts.sent++
  if (before === undefined) return
  const after = parse(changed)
  if (after === undefined) return fail('no JSON any more', body, changed)
  if (
    after.top_p !== 0.5 ||
    'n' in after ||
    after.temperature !== (before.temperature === undefined ? 1 : before.temperature)
  ) {
    fail('settings', body, changed)
  }
  if ((after.model as string) !== (before.model === 'a' ? 'b' : before.model)) fail('model', body, changed)
  const messages = after.messages as { content: string }[]
  if (messages[0]?.content !== 'rules' || messages.at(-1)?.content !== 'end') fail('messages', body, changed)
}

/** The upstream request; undefined if it is refused. */
function send(body: string, setup: object): string | undefined {
  const { prepared } = prepare(body, setup)
  return prepared.kind === 'send' && prepared.body !== undefined ? new TextDecoder().decode(prepared.body) : undefined
}

function damage(seed: number): string {
  const random = seeded(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  let body = pick(BODIES)
  for (let times = Math.floor(random() * 4); times > 0; times--) {
    const at = Math.floor(random() * (body.length + 1))
    body = body.slice(0, at) + pick([...PIECES, '']) + body.slice(at + Math.floor(random() * 3))
  }
  return body
}

/** A random number generator, deterministic for a seed (xorshift). @returns numbers from 0 to 1 */
function seeded(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1) | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function withoutStrings(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"/gs, '""')
}

function fail(what: string, body: string, result: string): void {
  console.error(`${what}, seed ${seed}\n${body}\n${result}`)
  process.exit(1)
}
