import type { BackendItem, PolicyItem } from '#plan/item.ts'
import type { AiPlan } from '#protocols/llm/ai-plan.ts'
import type { AiSettingsSpec } from '#protocols/llm/ai-settings.ts'
import { type AiSettingsSource, compileAi } from '#protocols/llm/compile-ai.ts'
import type { AiBackendSpec } from '#protocols/llm/provider-spec.ts'
import type { Credential } from '#protocols/llm/providers/provider.ts'
import type { BackendMerge, BackendScope } from './backend-scope.ts'
import { toSource } from './build-chain.ts'

/** The LLM side of a backend: providers, and for each the strongest `ai` settings (decision B01). */
export function buildAi(
  item: BackendItem,
  merge: (section: string | undefined) => BackendMerge,
  { context }: BackendScope,
): AiPlan {
  const origin = { spec: item.spec, origin: item.origin, path: 'spec.ai', target: item.key }
  const known = new Map<PolicyItem, AiSettingsSource>()
  return compileAi({
    spec: item.spec as AiBackendSpec,
    report: (path, problem) => context.report(origin, path, problem),
    settingsOf: (provider) => {
      const strongest = merge(sectionOf(provider)).fields.get('ai')?.sources[0]
      if (strongest === undefined) return undefined
      let settings = known.get(strongest)
      if (settings === undefined) {
        const source = toSource(strongest)
        settings = {
          spec: strongest.spec as AiSettingsSpec,
          report: (path, problem) => context.report(source, path, problem),
          expression: (path, text, place) => context.expression(source, path, text, place),
        }
        known.set(strongest, settings)
      }
      return settings
    },
    credentialOf: (provider) => credentialOf(merge(sectionOf(provider)).fields.get('auth')?.sources[0]),
  })
}

/** A single provider without a name is the section `backend` (docs/behaviour/control.md, "Sections"). */
function sectionOf(provider: string): string {
  return provider === '' ? 'backend' : provider
}

function credentialOf(auth: PolicyItem | undefined): Credential | undefined {
  if (auth === undefined) return undefined
  const spec = auth.spec as { key?: string; secretRef?: object; location?: object }
  return {
    source: spec.key !== undefined || spec.secretRef !== undefined ? 'key' : 'token',
    explicitLocation: spec.location !== undefined,
  }
}
