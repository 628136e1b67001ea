/** Values that a provider or a client may send where something else belongs. */
const STRANGE: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1e308,
  2 ** 53,
  0.5,
  '',
  'x',
  'constructor',
  '__proto__',
  '[DONE]',
  '\ud800',
  '\u0000\n\r\u2028"\\',
  'data: x\n\nevent: error\ndata: {}\n\n',
  'text',
  'tool_use',
  'thinking',
  'assistant',
  [],
  {},
  [[]],
  [null],
  { type: 'text', text: 'y' },
  { error: { message: 'm', type: 'overloaded_error' } },
]

/** Names of members that some dialect reads. */
const NAMES: readonly string[] = [
  'content',
  'delta',
  'error',
  'finish_reason',
  'function_call',
  'id',
  'index',
  'input',
  'model',
  'name',
  'reasoning_content',
  'reasoning_signature',
  'refusal',
  'role',
  'service_tier',
  'signature',
  'stop_reason',
  'text',
  'thinking',
  'tool_calls',
  'type',
  'usage',
]

type Container = Record<string, unknown> | unknown[]

/** Changes a parsed JSON value in one to four places. @param donors values of which parts are taken */
export function mutateJson(value: unknown, random: () => number, donors: readonly unknown[]): unknown {
  const changed: unknown[] = [structuredClone(value)]
  for (let times = 1 + Math.floor(random() * 4); times > 0; times--) changeOnce(changed, random, donors)
  return changed[0]
}

function changeOnce(root: unknown[], random: () => number, donors: readonly unknown[]): void {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const places = placesIn(root)
  const [container, key] = pick(places)
  const replacement = () => {
    if (random() < 0.5) return structuredClone(pick(STRANGE))
    const [from, at] = pick(placesIn([pick(donors)]))
    return structuredClone((from as Record<string, unknown>)[at])
  }
  const holder = container as Record<string, unknown>
  switch (Math.floor(random() * 6)) {
    case 0:
    case 1:
      holder[key] = replacement()
      return
    case 2:
      if (Array.isArray(container)) container.splice(Number(key), 1)
      else delete holder[key]
      if (root.length === 0) root.push({})
      return
    case 3:
      if (Array.isArray(container) && container !== root) {
        for (let times = 1 + Math.floor(random() * 3); times > 0; times--) container.push(structuredClone(holder[key]))
      } else if (container !== root) holder[pick(NAMES)] = structuredClone(holder[key])
      return
    case 4:
      if (!Array.isArray(container)) holder[pick(NAMES)] = replacement()
      return
    default:
      if (typeof holder[key] === 'number') holder[key] = Math.floor(random() * 4)
      else if (typeof holder[key] === 'string') holder[key] = (holder[key] as string).slice(Math.floor(random() * 4))
  }
}

/** All places of values, the value itself included. */
function placesIn(root: Container): (readonly [Container, string])[] {
  const places: (readonly [Container, string])[] = []
  const left: Container[] = [root]
  while (left.length > 0) {
    const container = left.pop()!
    for (const [key, value] of Object.entries(container)) {
      places.push([container, key])
      if (typeof value === 'object' && value !== null) left.push(value as Container)
    }
  }
  return places
}
