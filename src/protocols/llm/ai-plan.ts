import type { BodySettings } from './body-settings.ts'
import type { PromptGuards } from './guards/compile-guards.ts'
import type { ExactNames } from './json/exact-names.ts'
import type { ModelAliases, ModelName } from './model-aliases.ts'
import type { PromptEnrichment } from './prompt-enrichment.ts'
import type { Credential, Provider } from './providers/provider.ts'
import type { ProviderDestination } from './providers.ts'
import type { RouteTypes } from './route-type.ts'

/** An AI backend, ready to run. */
export interface AiPlan {
  /** In the order of groups and of providers within them; an index into this names a provider. */
  readonly providers: readonly AiProviderPlan[]
  /** Indexes into `providers`, most preferred group first. */
  readonly groups: readonly (readonly number[])[]
}

/** One provider with everything that applies to requests sent there. */
export interface AiProviderPlan {
  /** Section name; empty for a backend with a single, unnamed provider. */
  readonly name: string
  readonly provider: Provider
  readonly destination: ProviderDestination
  /** Model that replaces the one of every request. */
  readonly pin: ModelName | undefined
  readonly credential: Credential | undefined
  /** Configured path of all typed requests; undefined: the provider's own. */
  readonly path: string | undefined
  readonly settings: AiSettings
}

/** `backend.ai`, ready to run. */
export interface AiSettings {
  readonly routes: RouteTypes
  readonly aliases: ModelAliases | undefined
  readonly body: BodySettings | undefined
  /** Members of a body that something reads or changes. */
  readonly members: ExactNames
  readonly prompt: PromptEnrichment | undefined
  readonly guards: PromptGuards | undefined
}
