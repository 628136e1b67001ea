import type { PromptCaching } from '../chat/prompt-caching.ts'
import type { PromptGuards } from '../guards/guard.ts'
import type { ExactNames } from '../json/exact-names.ts'
import type { Credential, Provider } from '../providers/provider.ts'
import type { ProviderDestination } from '../providers/providers.ts'
import type { BodySettings } from '../settings/body-settings.ts'
import type { ModelAliases, ModelName } from '../settings/model-aliases.ts'
import type { PromptEnrichment } from '../settings/prompt-enrichment.ts'
import type { RouteTypes } from '../settings/route-type.ts'

/** A prepared AI backend. */
export interface AiPlan {
  /** In the order of groups and of providers within them; code refers to a provider by its index. */
  readonly providers: readonly AiProviderPlan[]
  /** Indexes into `providers`, in order of priority. */
  readonly groups: readonly (readonly number[])[]
}

/** One provider with all settings for its requests. */
export interface AiProviderPlan {
  /** Section name; empty for a backend with one unnamed provider. */
  readonly name: string
  readonly provider: Provider
  readonly destination: ProviderDestination
  /** Model that replaces the model of every request. */
  readonly pin: ModelName | undefined
  readonly credential: Credential | undefined
  /** Configured path of all requests with a known format; undefined: the default path of the provider. */
  readonly path: string | undefined
  readonly settings: AiSettings
}

/** `backend.ai`, prepared. */
export interface AiSettings {
  readonly routes: RouteTypes
  readonly aliases: ModelAliases | undefined
  readonly body: BodySettings | undefined
  /** Members of a body that the gateway reads or changes. */
  readonly members: ExactNames
  readonly prompt: PromptEnrichment | undefined
  readonly guards: PromptGuards | undefined
  readonly caching: PromptCaching | undefined
}
