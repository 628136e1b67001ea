import type { JsonValue } from '../json/json-document.ts'

/** The tools of a client that take a text (type `custom`): it expects calls of that type. */
export function textTools(request: JsonValue): ReadonlySet<string> {
  const names = new Set<string>()
  for (const tool of request.get('tools')?.elements ?? []) {
    const name = tool.get('name')
    if (name?.kind === 'string' && tool.get('type')?.text === 'custom') names.add(name.text)
  }
  return names
}
