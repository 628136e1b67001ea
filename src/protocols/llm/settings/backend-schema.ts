import { meaningsOfProviders } from '#base/products.ts'
import {
  type ConfigProblem,
  exactlyOne,
  fieldPath,
  itemPath,
  list,
  object,
  optional,
  type Parsed,
  problem,
  required,
  withMeanings,
  withRule,
} from '#schema/index.ts'
import { llmProvider, namedLlmProvider } from './provider-schema.ts'

const priorityGroup = object({
  providers: required(
    list(namedLlmProvider, { min: 1, max: 16 }),
    'Providers of equal priority. Requests are balanced across them by health.',
  ),
})

interface WithGroups {
  readonly groups?: readonly { readonly providers: readonly { readonly name: string }[] }[]
}

/** A section name must identify one provider, so names are unique across all groups. */
function checkUniqueNames({ groups = [] }: WithGroups, path: string): readonly ConfigProblem[] {
  const seen = new Map<string, string>()
  const found: ConfigProblem[] = []
  for (const [g, group] of groups.entries()) {
    for (const [p, { name }] of group.providers.entries()) {
      const at = itemPath(`${itemPath(fieldPath(path, 'groups'), g)}.providers`, p)
      const first = seen.get(name)
      if (first === undefined) seen.set(name, at)
      else
        found.push(
          problem(
            fieldPath(at, 'name'),
            'duplicate',
            `provider names must be unique across all groups; ${first} already uses this name`,
          ),
        )
    }
  }
  return found
}

const MEANINGS = {
  ...meaningsOfProviders('provider.'),
  providers: 'use "groups", each of which has "providers"',
  model: 'use "model" in the block of the provider, such as provider.providerOne.model',
}

/** `ProxyBackend.spec.ai` (specification 1, 2.4). */
export const aiBackend = withMeanings(
  MEANINGS,
  withRule(
    exactlyOne(
      ['provider', 'groups'],
      object({
        provider: optional(llmProvider, 'One LLM provider.'),
        groups: optional(
          list(priorityGroup, { min: 1, max: 8 }),
          'Groups of LLM providers, highest priority first. A group receives traffic when all earlier groups are unhealthy.',
        ),
      }),
    ),
    {
      reads: ['groups'],
      description: 'Provider names must be unique across all groups.',
      check: checkUniqueNames,
      onServer:
        '!has(self.groups) || self.groups.all(group, group.providers.all(provider, ' +
        'self.groups.map(other, other.providers.filter(one, one.name == provider.name).size()).sum() == 1))',
    },
  ),
)

export type PriorityGroupSpec = Parsed<typeof priorityGroup>
export type AiBackendSpec = Parsed<typeof aiBackend>
