import { readFileSync } from 'node:fs'
import type { FoundField } from '#api/find-field.ts'
import { projectFile } from '#instance/project-file.ts'

/** The example of a policy: a file of this project, and its text. */
export interface PolicyExample {
  /** From the root of the project. */
  readonly file: string
  readonly text: string
  /** Whether the field is the policy itself, not a part of it. */
  readonly isWhole: boolean
}

/** The example of the policy that a field is, or is part of. */
export function exampleOf({ info, path }: FoundField): PolicyExample | undefined {
  const place = placeOf(info.kind, path)
  if (place === undefined) return undefined
  return {
    file: place.file,
    text: readFileSync(projectFile(place.file), 'utf8'),
    isWhole: place.depth === path.length,
  }
}

interface Place {
  readonly file: string
  /** Number of names in the path of the policy. */
  readonly depth: number
}

/** Parts of route rules that have an example, by the path of the field that contains them. */
const RULE_PARTS: readonly (readonly [path: readonly string[], fields: readonly string[]])[] = [
  [
    ['spec', 'rules', 'filters'],
    ['requestMirror', 'requestRedirect', 'urlRewrite'],
  ],
  [['spec', 'rules'], ['sessionPersistence']],
]
const PROTOCOLS: Readonly<Record<string, string>> = { ai: 'llm', mcp: 'mcp' }

function placeOf(kind: string, path: readonly string[]): Place | undefined {
  if (kind === 'HTTPRoute') {
    const part = RULE_PARTS.find(
      ([above, fields]) =>
        above.every((name, index) => path[index] === name) && fields.includes(path[above.length] ?? ''),
    )
    if (part === undefined) return undefined
    const depth = part[0].length + 1
    return { file: `src/policies/route/${kebab(path[depth - 1]!)}/example.yaml`, depth }
  }
  const section = kind === 'ProxyBackend' && path[1] === 'policies' ? 'backend' : path[1]
  const field = path[2]
  if (section === undefined || field === undefined || field === 'phase') return undefined
  if (kind !== 'ProxyPolicy' && section !== 'backend') return undefined
  if (!['frontend', 'traffic', 'backend'].includes(section)) return undefined
  if (section === 'backend' && field === 'ai' && path[3] === 'promptGuard') {
    return { file: 'examples/guards/policy.yaml', depth: 4 }
  }
  const protocol = section === 'backend' ? PROTOCOLS[field] : undefined
  const file =
    protocol === undefined
      ? `src/policies/${section}/${kebab(field)}/example.yaml`
      : `src/protocols/${protocol}/policy-example.yaml`
  return { file, depth: 3 }
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
